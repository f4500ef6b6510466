;; Earley's parser on the grammar s -> a | s s: the sets of items are lists in a vector, and the number of parses
;; of n letters is counted from them.
(define grammar '((s a) (s s s)))

(define (terminal? symbol) (not (assq symbol grammar)))

;; An item is a vector: the left side, what is left of the right side, where it began, the number of ways.
(define (item left rest from ways) (vector left rest from ways))

(define (item-left i) (vector-ref i 0))

(define (item-rest i) (vector-ref i 1))

(define (item-from i) (vector-ref i 2))

(define (item-ways i) (vector-ref i 3))

(define (find-item items left rest from)
  (cond ((null? items) #f)
        ((and (eq? (item-left (car items)) left)
              (eq? (item-rest (car items)) rest)
              (= (item-from (car items)) from))
         (car items))
        (else (find-item (cdr items) left rest from))))

;; The items at one place that have not begun anywhere else.
(define (predict at)
  (map (lambda (rule) (item (car rule) (cdr rule) at 0)) grammar))

;; Adds items to a set, or ways to an item that is there.
(define (add items left rest from ways)
  (let ((known (find-item items left rest from)))
    (cond (known
           (vector-set! known 3 (+ (item-ways known) ways))
           items)
          (else (cons (item left rest from ways) items)))))

;; The items of a set, with those that a completed phrase from `from` to here moves on. Longer phrases are
;; completed after the shorter ones that they consist of.
(define (complete sets items at)
  (let loop ((from (- at 1)) (items items))
    (if (< from 0)
        items
        (loop (- from 1)
              (let each ((done (filter-items (lambda (i)
                                               (and (null? (item-rest i)) (= (item-from i) from)))
                                             items))
                         (items items))
                (if (null? done)
                    items
                    (each (cdr done) (advance (vector-ref sets from) (car done) items))))))))

(define (filter-items ok? items)
  (cond ((null? items) '())
        ((ok? (car items)) (cons (car items) (filter-items ok? (cdr items))))
        (else (filter-items ok? (cdr items)))))

(define (advance waiting done items)
  (cond ((null? waiting) items)
        ((and (pair? (item-rest (car waiting)))
              (eq? (car (item-rest (car waiting))) (item-left done)))
         (let ((before (if (= (item-from (car waiting)) (item-from done))
                           1
                           (item-ways (car waiting)))))
           (advance (cdr waiting)
                    done
                    (add items
                         (item-left (car waiting))
                         (cdr (item-rest (car waiting)))
                         (item-from (car waiting))
                         (* before (item-ways done))))))
        (else (advance (cdr waiting) done items))))

(define (scan items symbol)
  (cond ((null? items) '())
        ((and (pair? (item-rest (car items)))
              (terminal? (car (item-rest (car items))))
              (eq? (car (item-rest (car items))) symbol))
         (cons (item (item-left (car items)) (cdr (item-rest (car items))) (item-from (car items)) 1)
               (scan (cdr items) symbol)))
        (else (scan (cdr items) symbol))))

(define (parses input)
  (let* ((n (length input)) (sets (make-vector (+ n 1) '())))
    (vector-set! sets 0 (predict 0))
    (let loop ((at 1) (input input))
      (if (pair? input)
          (let ((items (complete sets (scan (vector-ref sets (- at 1)) (car input)) at)))
            (vector-set! sets at (append (predict at) items))
            (loop (+ at 1) (cdr input)))
          (let sum ((items (vector-ref sets n)) (ways 0))
            (cond ((null? items) ways)
                  ((and (null? (item-rest (car items))) (= (item-from (car items)) 0))
                   (sum (cdr items) (+ ways (item-ways (car items)))))
                  (else (sum (cdr items) ways))))))))

;; The number of parses is a Catalan number, which soon has hundreds of digits.
(define (run n) (modulo (parses (make-list n 'a)) 1000000007))

(include "main.scm")
