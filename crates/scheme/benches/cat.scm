;; Copies a file of n lines, one character at a time.
(include "text.scm")

(define copy "bench-copy.txt")

(define (copy-characters from to)
  (let loop ((c (read-char from)) (count 0))
    (if (eof-object? c)
        count
        (begin
          (write-char c to)
          (loop (read-char from) (+ count 1))))))

(define (run n)
  (make-file n)
  (let ((count (call-with-input-file file
                 (lambda (from)
                   (call-with-output-file copy
                     (lambda (to) (copy-characters from to)))))))
    (delete-file file)
    (delete-file copy)
    count))

(include "main.scm")
