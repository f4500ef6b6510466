;; A Scheme interpreter that first turns a program into closures, then runs them: here a sort of words, whose
;; procedures are the interpreted ones.
(define (global-value name)
  (let ((known (assq name globals)))
    (if known (cdr known) (error "unbound:" name))))

(define globals
  (list (cons 'car car) (cons 'cdr cdr) (cons 'cons cons) (cons 'null? null?) (cons '+ +) (cons '- -)
        (cons '= =) (cons '< <) (cons 'not not) (cons 'string<? string<?) (cons 'list list)
        (cons 'vector-ref vector-ref) (cons 'vector-length vector-length)))

;; Environments are lists of ribs, ribs are vectors; names are found when closures are made.
(define (position name names)
  (let loop ((names names) (i 0))
    (cond ((null? names) #f)
          ((eq? name (car names)) i)
          (else (loop (cdr names) (+ i 1))))))

(define (lookup name scope)
  (let loop ((scope scope) (depth 0))
    (if (null? scope)
        (let ((value (global-value name)))
          (lambda (env) value))
        (let ((at (position name (car scope))))
          (if at
              (reference depth at)
              (loop (cdr scope) (+ depth 1)))))))

(define (reference depth at)
  (case depth
    ((0) (lambda (env) (vector-ref (car env) at)))
    ((1) (lambda (env) (vector-ref (cadr env) at)))
    (else (lambda (env) (vector-ref (list-ref env depth) at)))))

(define (compile e scope)
  (cond ((symbol? e) (lookup e scope))
        ((not (pair? e)) (lambda (env) e))
        (else
         (case (car e)
           ((quote) (let ((value (cadr e))) (lambda (env) value)))
           ((if)
            (let ((test (compile (cadr e) scope))
                  (then (compile (caddr e) scope))
                  (else (compile (cadddr e) scope)))
              (lambda (env) (if (test env) (then env) (else env)))))
           ((lambda)
            (let* ((parameters (cadr e))
                   (count (length parameters))
                   (body (compile (caddr e) (cons parameters scope))))
              (lambda (env)
                (lambda arguments
                  (if (= (length arguments) count)
                      (body (cons (list->vector arguments) env))
                      (error "wrong number of arguments:" arguments))))))
           ((let)
            (compile (cons (list 'lambda (map car (cadr e)) (caddr e)) (map cadr (cadr e))) scope))
           ((letrec)
            (let* ((names (map car (cadr e)))
                   (inner (cons names scope))
                   (values (map (lambda (b) (compile (cadr b) inner)) (cadr e)))
                   (body (compile (caddr e) inner)))
              (lambda (env)
                (let* ((rib (make-vector (length names) #f)) (env (cons rib env)))
                  (let fill ((values values) (i 0))
                    (if (pair? values)
                        (begin
                          (vector-set! rib i ((car values) env))
                          (fill (cdr values) (+ i 1)))))
                  (body env)))))
           (else (compile-call e scope))))))

(define (compile-call e scope)
  (let ((operator (compile (car e) scope))
        (operands (map (lambda (a) (compile a scope)) (cdr e))))
    (case (length operands)
      ((1)
       (let ((a (car operands)))
         (lambda (env) ((operator env) (a env)))))
      ((2)
       (let ((a (car operands)) (b (cadr operands)))
         (lambda (env) ((operator env) (a env) (b env)))))
      ((3)
       (let ((a (car operands)) (b (cadr operands)) (c (caddr operands)))
         (lambda (env) ((operator env) (a env) (b env) (c env)))))
      (else
       (lambda (env) (apply (operator env) (map (lambda (a) (a env)) operands)))))))

(define program
  '(letrec ((sort-list
             (lambda (words less?)
               (letrec ((merge
                         (lambda (a b)
                           (if (null? a)
                               b
                               (if (null? b)
                                   a
                                   (if (less? (car b) (car a))
                                       (cons (car b) (merge a (cdr b)))
                                       (cons (car a) (merge (cdr a) b)))))))
                        (split
                         (lambda (words left right)
                           (if (null? words)
                               (list left right)
                               (split (cdr words) right (cons (car words) left)))))
                        (sort
                         (lambda (words)
                           (if (null? words)
                               words
                               (if (null? (cdr words))
                                   words
                                   (let ((halves (split words '() '())))
                                     (merge (sort (car halves)) (sort (car (cdr halves))))))))))
                 (sort words))))
            (position
             (lambda (words word at)
               (if (string<? (car words) word)
                   (position (cdr words) word (+ at 1))
                   at))))
     (lambda (words word) (position (sort-list words string<?) word 0))))

(define words
  '("one" "two" "three" "four" "five" "six" "seven" "eight" "nine" "ten" "eleven" "twelve" "thirteen"
    "fourteen" "fifteen" "sixteen" "seventeen" "eighteen" "nineteen" "twenty" "thirty" "forty" "fifty"))

(define (run n)
  (let loop ((i 0) (sum 0))
    (if (= i n)
        sum
        (loop (+ i 1) (+ sum (((compile program '()) '()) words "seven"))))))

(include "main.scm")
