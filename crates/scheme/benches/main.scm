;; The end of every program here: runs it on the size that is its argument, then prints the result and how
;; long that took, by the program's own clock.
(let* ((size (string->number (list-ref (command-line) 1)))
       (start (current-jiffy))
       (result (run size))
       (jiffies (- (current-jiffy) start)))
  (write result)
  (newline)
  (display "us=")
  (display (quotient (* jiffies 1000000) (jiffies-per-second)))
  (newline))
