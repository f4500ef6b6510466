;; A database of units with patterns in their properties, searched by matching: lists, symbols, association lists.
(define seed 21)

(define (random!)
  (set! seed (modulo (* seed 17) 251))
  seed)

(define properties '())

(define (get name key)
  (let ((all (assq name properties)))
    (and all
         (let ((found (assq key (cdr all))))
           (and found (cdr found))))))

(define (put! name key value)
  (let ((all (assq name properties)))
    (if all
        (set-cdr! all (cons (cons key value) (cdr all)))
        (set! properties (cons (list name (cons key value)) properties)))))

;; A pattern is a tree with `?`, which stands for anything, `*`, for any number of things, and variables
;; ?x, which stand for the same everywhere, and *x for runs of things.
(define variables '((?1 . one) (?2 . one) (?3 . one) (*1 . many) (*2 . many) (*3 . many)))

(define (kind x)
  (cond ((eq? x '?) 'any-one)
        ((eq? x '*) 'any-many)
        ((and (symbol? x) (assq x variables)) => cdr)
        (else 'constant)))

(define (match? pattern tree bound)
  (if (null? pattern)
      (null? tree)
      (let ((first (car pattern)) (rest (cdr pattern)))
        (case (kind first)
          ((any-one) (and (pair? tree) (match? rest (cdr tree) bound)))
          ((any-many) (match-many rest tree bound #f '()))
          ((one)
           (and (pair? tree)
                (let ((value (assq first bound)))
                  (if value
                      (and (equal? (cdr value) (car tree)) (match? rest (cdr tree) bound))
                      (match? rest (cdr tree) (cons (cons first (car tree)) bound))))))
          ((many)
           (let ((value (assq first bound)))
             (if value
                 (match? (append (cdr value) rest) tree bound)
                 (match-many rest tree bound first '()))))
          (else
           (and (pair? tree)
                (if (pair? first)
                    (and (pair? (car tree))
                         (match? first (car tree) bound)
                         (match? rest (cdr tree) bound))
                    (and (eqv? first (car tree)) (match? rest (cdr tree) bound)))))))))

(define (match-many rest tree bound name taken)
  (or (match? rest tree (if name (cons (cons name (reverse taken)) bound) bound))
      (and (pair? tree)
           (match-many rest (cdr tree) bound name (cons (car tree) taken)))))

(define trees
  '((a a a b b b b a a a a a b b a a a)
    (a a b b b b a a (a a) (b b))
    (a a a b (b a) b a b a)
    (b a (a b a) a b a a b a)))

(define patterns
  '((*1 ?1 *1 ?1 *1)
    (*1 b *2 b *3 (* a) *)
    (? ? * (b a) * ? ?)
    (*1 b (*2 a *) * a)))

(define (make-units n)
  (let loop ((i 0) (names '()))
    (if (= i n)
        names
        (let ((name (string->symbol (string-append "unit" (number->string i)))))
          (put! name 'pattern (list-ref trees (modulo (random!) 4)))
          (put! name 'fill (make-list (modulo i 5) i))
          (loop (+ i 1) (cons name names))))))

(define (investigate units)
  (let count ((units units) (n 0))
    (if (null? units)
        n
        (count (cdr units)
               (let loop ((patterns patterns) (n n))
                 (cond ((null? patterns) n)
                       ((match? (car patterns) (get (car units) 'pattern) '())
                        (loop (cdr patterns) (+ n 1)))
                       (else (loop (cdr patterns) n))))))))

(define (run n)
  (let ((units (make-units 100)))
    (let loop ((i 0) (sum 0))
      (if (= i n) sum (loop (+ i 1) (+ sum (investigate units)))))))

(include "main.scm")
