;; Which types conform to which? Types are sets of operations on types, so that they may be recursive; the relation
;; is the greatest one that their operations allow. Vectors, lists and closures over a growing graph.
(define-record-type type (make-type name operations row) type?
  (name type-name)
  (operations type-operations set-type-operations!)
  (row type-row set-type-row!))

;; An operation is a list: its name, its result, its arguments.
(define (operation-name o) (car o))

(define (operation-result o) (cadr o))

(define (operation-arguments o) (cddr o))

(define (every? ok? a b)
  (or (null? a)
      (and (ok? (car a) (car b)) (every? ok? (cdr a) (cdr b)))))

;; Types 0 to n-1: each has operations onto types near it.
(define (make-types n)
  (let ((types (make-vector n #f)))
    (do ((i 0 (+ i 1)))
        ((= i n))
      (vector-set! types i (make-type i '() (make-vector n #t))))
    (do ((i 0 (+ i 1)))
        ((= i n) types)
      (let loop ((k 0) (operations '()))
        (if (> k (modulo (* i 7) 5))
            (set-type-operations! (vector-ref types i) operations)
            (loop (+ k 1)
                  (cons (list k
                              (vector-ref types (modulo (+ (* i 3) k) n))
                              (vector-ref types (modulo (+ (quotient i 2) (* k k)) n)))
                        operations)))))))

(define (conforms? a b) (vector-ref (type-row a) (type-name b)))

;; Whether a has every operation of b, with results that conform and arguments the other way round.
(define (still-conforms? a b)
  (let loop ((wanted (type-operations b)))
    (or (null? wanted)
        (let ((own (assv (operation-name (car wanted)) (type-operations a))))
          (and own
               (conforms? (operation-result own) (operation-result (car wanted)))
               (every? conforms?
                       (operation-arguments (car wanted))
                       (operation-arguments own))
               (loop (cdr wanted)))))))

(define (for-each-pair types do)
  (vector-for-each (lambda (a) (vector-for-each (lambda (b) (do a b)) types)) types))

(define (refine! types)
  (let ((changed #f))
    (for-each-pair
     types
     (lambda (a b)
       (if (and (conforms? a b) (not (still-conforms? a b)))
           (begin
             (vector-set! (type-row a) (type-name b) #f)
             (set! changed #t)))))
    (if changed (refine! types))))

;; The classes of types that conform to each other both ways.
(define (classes types)
  (let loop ((i 0) (found '()))
    (if (= i (vector-length types))
        found
        (let* ((t (vector-ref types i))
               (same? (lambda (class)
                        (and (conforms? t (car class)) (conforms? (car class) t))))
               (rest (let drop ((found found))
                       (cond ((null? found) '())
                             ((same? (car found)) (drop (cdr found)))
                             (else (cons (car found) (drop (cdr found)))))))
               (own (let find ((found found))
                      (cond ((null? found) '())
                            ((same? (car found)) (car found))
                            (else (find (cdr found)))))))
          (loop (+ i 1) (cons (cons t own) rest))))))

(define (run n)
  (let ((types (make-types n)) (pairs 0))
    (refine! types)
    (for-each-pair types (lambda (a b) (if (conforms? a b) (set! pairs (+ pairs 1)))))
    (+ (* 1000 pairs) (length (classes types)))))

(include "main.scm")
