;; What cat, wc and read1 share: a file of n lines, made once.
(define file "bench-text.txt")

(define (make-file n)
  (call-with-output-file file
    (lambda (port)
      (do ((i 0 (+ i 1)))
          ((= i n))
        (write-string "(line " port)
        (write i port)
        (write-string " \"of some text\" #(that repeats itself) (and (is nested) . here))" port)
        (newline port)))))
