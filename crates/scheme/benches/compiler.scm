;; A small compiler: a program is renamed, its lambdas are lifted, and code for a stack machine is made and
;; improved; then the machine runs it. Symbols, association lists and records.
(define-record-type code (make-code name arguments instructions) code?
  (name code-name) (arguments code-arguments) (instructions code-instructions set-code-instructions!))

(define counter 0)

(define (fresh name)
  (set! counter (+ counter 1))
  (string->symbol (string-append (symbol->string name) "." (number->string counter))))

(define (append-map f list)
  (if (null? list) '() (append (f (car list)) (append-map f (cdr list)))))

(define (union a b)
  (cond ((null? a) b)
        ((memq (car a) b) (union (cdr a) b))
        (else (cons (car a) (union (cdr a) b)))))

(define (without a b)
  (cond ((null? a) '())
        ((memq (car a) b) (without (cdr a) b))
        (else (cons (car a) (without (cdr a) b)))))

(define operators '(+ - * < = cons car cdr null?))

;; Gives every variable a name of its own.
(define (rename e env)
  (cond ((symbol? e) (let ((known (assq e env))) (if known (cdr known) e)))
        ((not (pair? e)) e)
        (else
         (case (car e)
           ((quote) e)
           ((if) (cons 'if (map (lambda (e) (rename e env)) (cdr e))))
           ((let)
            (let* ((names (map car (cadr e))) (new (map fresh names)))
              (list 'let
                    (map (lambda (name b) (list name (rename (cadr b) env))) new (cadr e))
                    (rename (caddr e) (append (map cons names new) env)))))
           ((define)
            (let* ((names (cdr (cadr e))) (new (map fresh names)))
              (list 'define
                    (cons (car (cadr e)) new)
                    (rename (caddr e) (append (map cons names new) env)))))
           (else (cons (car e) (map (lambda (e) (rename e env)) (cdr e))))))))

;; Folds operators on constants and decides tests that are known.
(define (fold e)
  (if (not (pair? e))
      e
      (case (car e)
        ((quote) e)
        ((if)
         (let ((test (fold (cadr e))))
           (cond ((eq? test #t) (fold (caddr e)))
                 ((eq? test #f) (fold (cadddr e)))
                 (else (list 'if test (fold (caddr e)) (fold (cadddr e)))))))
        ((let)
         (list 'let (map (lambda (b) (list (car b) (fold (cadr b)))) (cadr e)) (fold (caddr e))))
        (else
         (let ((arguments (map fold (cdr e))))
           (if (and (memq (car e) '(+ - * < =))
                    (number? (car arguments))
                    (number? (cadr arguments)))
               ((cdr (assq (car e) arithmetic)) (car arguments) (cadr arguments))
               (cons (car e) arguments)))))))

(define arithmetic (list (cons '+ +) (cons '- -) (cons '* *) (cons '< <) (cons '= =)))

(define (free e)
  (cond ((symbol? e) (list e))
        ((not (pair? e)) '())
        (else
         (case (car e)
           ((quote) '())
           ((let)
            (union (append-map (lambda (b) (free (cadr b))) (cadr e))
                   (without (free (caddr e)) (map car (cadr e)))))
           (else
            (let loop ((es (cdr e)) (found '()))
              (if (null? es) found (loop (cdr es) (union (free (car es)) found)))))))))

;; Leaves out bindings that nothing needs.
(define (prune e)
  (if (not (pair? e))
      e
      (case (car e)
        ((quote) e)
        ((let)
         (let* ((body (prune (caddr e)))
                (needed (free body))
                (kept (let loop ((bindings (cadr e)))
                        (cond ((null? bindings) '())
                              ((memq (caar bindings) needed)
                               (cons (list (caar bindings) (prune (cadar bindings))) (loop (cdr bindings))))
                              (else (loop (cdr bindings)))))))
           (if (null? kept) body (list 'let kept body))))
        (else (cons (car e) (map prune (cdr e)))))))

;; Instructions: (push VALUE) (fetch DEPTH) (do OPERATOR) (call NAME COUNT) (slide COUNT) (test THEN ELSE)
(define (generate e stack)
  (cond ((symbol? e) (list (list 'fetch (depth e stack))))
        ((not (pair? e)) (list (list 'push e)))
        (else
         (case (car e)
           ((quote) (list (list 'push (cadr e))))
           ((if)
            (append (generate (cadr e) stack)
                    (list (list 'test (generate (caddr e) stack) (generate (cadddr e) stack)))))
           ((let)
            (let ((count (length (cadr e))))
              (append (generate-all (map cadr (cadr e)) stack)
                      (generate (caddr e) (append (reverse (map car (cadr e))) stack))
                      (list (list 'slide count)))))
           (else
            (append (generate-all (cdr e) stack)
                    (if (memq (car e) operators)
                        (list (list 'do (car e)))
                        (list (list 'call (car e) (length (cdr e)))))))))))

(define (generate-all es stack)
  (if (null? es)
      '()
      (append (generate (car es) stack)
              (generate-all (cdr es) (cons (fresh 'temporary) stack)))))

(define (depth name stack)
  (let loop ((stack stack) (i 0))
    (cond ((null? stack) (error "unbound:" name))
          ((eq? (car stack) name) i)
          (else (loop (cdr stack) (+ i 1))))))

;; A slide directly after a slide is one; a slide of nothing is none.
(define (improve instructions)
  (cond ((null? instructions) '())
        ((eq? (caar instructions) 'test)
         (cons (list 'test (improve (cadar instructions)) (improve (caddr (car instructions))))
               (improve (cdr instructions))))
        ((and (eq? (caar instructions) 'slide)
              (pair? (cdr instructions))
              (eq? (caadr instructions) 'slide))
         (improve (cons (list 'slide (+ (cadar instructions) (cadr (cadr instructions))))
                        (cddr instructions))))
        (else (cons (car instructions) (improve (cdr instructions))))))

(define (compile-definition d)
  (let* ((renamed (rename d '()))
         (body (prune (fold (caddr renamed)))))
    (make-code (car (cadr renamed))
               (length (cdr (cadr renamed)))
               (improve (generate body (reverse (cdr (cadr renamed))))))))

(define (drop stack n) (if (= n 0) stack (drop (cdr stack) (- n 1))))

(define (execute instructions stack program)
  (if (null? instructions)
      stack
      (let ((i (car instructions)) (rest (cdr instructions)))
        (case (car i)
          ((push) (execute rest (cons (cadr i) stack) program))
          ((fetch) (execute rest (cons (list-ref stack (cadr i)) stack) program))
          ((slide) (execute rest (cons (car stack) (drop (cdr stack) (cadr i))) program))
          ((test)
           (execute rest
                    (execute (if (car stack) (cadr i) (caddr i)) (cdr stack) program)
                    program))
          ((do) (execute rest (operate (cadr i) stack) program))
          (else
           (let* ((code (cdr (assq (cadr i) program)))
                  (result (car (execute (code-instructions code) stack program))))
             (execute rest (cons result (drop stack (caddr i))) program)))))))

(define (operate operator stack)
  (let ((a (car stack)))
    (case operator
      ((car) (cons (car a) (cdr stack)))
      ((cdr) (cons (cdr a) (cdr stack)))
      ((null?) (cons (null? a) (cdr stack)))
      (else
       (let ((b (cadr stack)) (rest (cddr stack)))
         (cons (case operator
                 ((+) (+ b a))
                 ((-) (- b a))
                 ((*) (* b a))
                 ((<) (< b a))
                 ((=) (= b a))
                 (else (cons b a)))
               rest))))))

(define source
  '((define (fib n)
      (let ((limit (- 5 3)) (unused (* n n)))
        (if (< n limit) n (+ (fib (- n 1)) (fib (- n (+ 1 1)))))))
    (define (iota n) (if (= n 0) '() (cons n (iota (- n 1)))))
    (define (sum l) (if (null? l) 0 (let ((head (car l))) (let ((tail (cdr l))) (+ head (sum tail))))))
    (define (append2 a b) (if (null? a) b (cons (car a) (append2 (cdr a) b))))
    (define (reverse2 l) (if (null? l) l (append2 (reverse2 (cdr l)) (cons (car l) '()))))
    (define (power x n) (if (= n 0) 1 (* x (power x (- n 1)))))
    (define (debug x) (if (< 1 0) (car x) (let ((y x)) (let ((z y)) (cons z y)))))
    (define (main n) (+ (fib n) (sum (reverse2 (append2 (iota n) (iota (* 2 n)))))))))

(define (run n)
  (let loop ((i 0) (sum 0))
    (if (= i n)
        sum
        (begin
          (set! counter 0)
          (let* ((codes (map compile-definition source))
                 (program (map (lambda (c) (cons (code-name c) c)) codes)))
            (loop (+ i 1)
                  (+ sum
                     counter
                     (car (execute '((push 6) (call main 1)) '() program)))))))))

(include "main.scm")
