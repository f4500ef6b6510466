;; Symbolic derivatives: expressions taken apart and new ones built.
(define (derive e)
  (cond ((not (pair? e)) (if (eq? e 'x) 1 0))
        ((eq? (car e) '+) (cons '+ (map derive (cdr e))))
        ((eq? (car e) '-) (cons '- (map derive (cdr e))))
        ((eq? (car e) '*)
         (list '* e (cons '+ (map (lambda (f) (list '/ (derive f) f)) (cdr e)))))
        ((eq? (car e) '/)
         (let ((top (cadr e)) (bottom (caddr e)))
           (list '-
                 (list '/ (derive top) bottom)
                 (list '/ top (list '* bottom bottom (derive bottom))))))
        (else (error "no such operator:" (car e)))))

(define (size e)
  (if (pair? e) (+ 1 (size (car e)) (size (cdr e))) 0))

(define (run n)
  (let ((e '(+ (* 3 x x) (* a x x) (- (* b x) (/ x 5)) (* x (+ 1 x)) 5)))
    (let loop ((i 1) (sum (size (derive e))))
      (if (= i n)
          sum
          (loop (+ i 1) (+ sum (size (derive e))))))))

(include "main.scm")
