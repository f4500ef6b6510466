;; Reads the data in a file of n lines, and counts their leaves.
(include "text.scm")

(define (leaves datum)
  (cond ((pair? datum) (+ (leaves (car datum)) (leaves (cdr datum))))
        ((null? datum) 0)
        ((vector? datum) (vector-length datum))
        (else 1)))

(define (count port)
  (let loop ((datum (read port)) (sum 0))
    (if (eof-object? datum)
        sum
        (loop (read port) (+ sum (leaves datum))))))

(define (run n)
  (make-file n)
  (let ((result (call-with-input-file file count)))
    (delete-file file)
    result))

(include "main.scm")
