;; A partial evaluator: a program in a small functional language is specialised to the arguments that are known,
;; by unfolding calls whose tests can be decided. Association lists and expressions.
(define (literal? e) (or (number? e) (boolean? e) (and (pair? e) (eq? (car e) 'quote))))

(define (value e) (if (pair? e) (cadr e) e))

(define (quoted v) (if (or (number? v) (boolean? v)) v (list 'quote v)))

(define operators
  (list (cons '+ +) (cons '- -) (cons '* *) (cons '= =) (cons '< <) (cons 'quotient quotient)
        (cons 'odd? odd?) (cons 'cons cons) (cons 'car car) (cons 'cdr cdr) (cons 'null? null?)))

(define (every? ok? list)
  (or (null? list) (and (ok? (car list)) (every? ok? (cdr list)))))

(define (zip a b) (map cons a b))

;; The expression under an environment of expressions; calls are unfolded as long as a known argument decides
;; how far, at most `depth` deep.
(define (reduce e env program depth)
  (cond ((symbol? e)
         (let ((known (assq e env)))
           (if known (cdr known) e)))
        ((not (pair? e)) e)
        ((eq? (car e) 'quote) e)
        ((eq? (car e) 'if)
         (let ((test (reduce (cadr e) env program depth)))
           (cond ((literal? test)
                  (reduce (if (value test) (caddr e) (cadddr e)) env program depth))
                 (else
                  (list 'if
                        test
                        (reduce (caddr e) env program depth)
                        (reduce (cadddr e) env program depth))))))
        ((eq? (car e) 'let)
         (let ((bound (map (lambda (b) (cons (car b) (reduce (cadr b) env program depth))) (cadr e))))
           (reduce (caddr e) (append bound env) program depth)))
        ((assq (car e) operators)
         => (lambda (operator)
              (simplify operator (map (lambda (a) (reduce a env program depth)) (cdr e)))))
        (else
         (let* ((arguments (map (lambda (a) (reduce a env program depth)) (cdr e)))
                (definition (assq (car e) program)))
           (if (and definition (> depth 0) (unfold? arguments))
               (reduce (caddr definition)
                       (zip (cadr definition) arguments)
                       program
                       (- depth 1))
               (cons (car e) arguments))))))

(define (unfold? arguments)
  (and (pair? arguments)
       (or (literal? (car arguments)) (unfold? (cdr arguments)))))

(define (simplify operator arguments)
  (let ((name (car operator)))
    (cond ((every? literal? arguments)
           (quoted (apply (cdr operator) (map value arguments))))
          ((and (eq? name '*) (member 1 arguments))
           (if (eqv? (car arguments) 1) (cadr arguments) (car arguments)))
          ((and (eq? name '*) (member 0 arguments)) 0)
          ((and (eq? name '+) (member 0 arguments))
           (if (eqv? (car arguments) 0) (cadr arguments) (car arguments)))
          ((and (memq name '(car cdr)) (pair? (car arguments)) (eq? (caar arguments) 'cons))
           (if (eq? name 'car) (cadar arguments) (caddar arguments)))
          (else (cons name arguments)))))

(define (caddar x) (caddr (car x)))

(define program
  '((power (n x)
     (if (= n 0)
         1
         (if (odd? n)
             (* x (power (- n 1) x))
             (let ((half (power (quotient n 2) x))) (* half half)))))
    (append2 (a b) (if (null? a) b (cons (car a) (append2 (cdr a) b))))
    (dot (a b) (if (null? a) 0 (+ (* (car a) (car b)) (dot (cdr a) (cdr b)))))
    (ackermann (m n)
     (if (= m 0)
         (+ n 1)
         (if (= n 0)
             (ackermann (- m 1) 1)
             (ackermann (- m 1) (ackermann m (- n 1))))))
    (run-code (code stack)
     (if (null? code)
         (car stack)
         (if (= (car code) 1)
             (run-code (cdr code) (cons (+ (car stack) (car (cdr stack))) (cdr (cdr stack))))
             (if (= (car code) 2)
                 (run-code (cdr code) (cons (* (car stack) (car (cdr stack))) (cdr (cdr stack))))
                 (run-code (cdr code) (cons (car code) stack))))))))

(define tasks
  '((power 13 x)
    (dot '(1 0 5 1 7) v)
    (append2 '(1 2 3 4) rest)
    (ackermann 2 3)
    (run-code '(10 20 1 30 2 1 2) (cons a (cons b '())))))

(define (size e)
  (if (pair? e) (+ 1 (size (car e)) (size (cdr e))) 0))

(define (run n)
  (let loop ((i 0) (sum 0))
    (if (= i n)
        sum
        (loop (+ i 1)
              (let each ((tasks tasks) (sum sum))
                (if (null? tasks)
                    sum
                    (each (cdr tasks)
                          (+ sum (size (reduce (car tasks) '() program 200))))))))))

(include "main.scm")
