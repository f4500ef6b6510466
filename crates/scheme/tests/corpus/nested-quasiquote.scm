;; What is spliced into an inner unquote may be none or many.
(define l (list 1 2))
(write (equal? `(a `(b ,(c ,@l))) (list 'a (list 'quasiquote (list 'b (list 'unquote (list 'c 1 2)))))))
(newline)
(write (length (cadr (cadr (cdr (list 0 1 `(x `(b ,,@l))))))))
(newline)
(write (equal? `(1 ```,,@,,@(list (+ 1 2)) 4) '(1 ```,,@,3 4)))
(newline)
