;; A string that doubles and is cut again, n times: string-append and substring.
(define start "abcdef")

(define (grow)
  (let loop ((s start))
    (if (> (string-length s) 100000)
        s
        (let* ((more (string-append "123" s "456" s "789"))
               (n (string-length more)))
          (loop (string-append (substring more (quotient n 2) n)
                               (substring more 0 (+ 1 (quotient n 2)))))))))

(define (run n)
  (let loop ((i 1) (s (grow)))
    (if (= i n)
        (+ (string-length s)
           (* 1000000 (char->integer (string-ref s (quotient (string-length s) 3)))))
        (loop (+ i 1) (grow)))))

(include "main.scm")
