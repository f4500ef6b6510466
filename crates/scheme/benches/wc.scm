;; Counts the lines, words and characters of a file of n lines.
(include "text.scm")

(define (count port)
  (let loop ((lines 0) (words 0) (characters 0) (in-word #f))
    (let ((c (read-char port)))
      (cond ((eof-object? c) (+ (* 7 lines) (* 3 words) characters))
            ((char=? c #\newline) (loop (+ lines 1) words (+ characters 1) #f))
            ((char=? c #\space) (loop lines words (+ characters 1) #f))
            (in-word (loop lines words (+ characters 1) #t))
            (else (loop lines (+ words 1) (+ characters 1) #t))))))

(define (run n)
  (make-file n)
  (let ((result (call-with-input-file file count)))
    (delete-file file)
    result))

(include "main.scm")
