;; The paraffins of n carbon atoms, each made once: radicals by size in a vector of lists, joined at a bond or at an
;; atom in the middle.
(define (make-radical a b c) (vector a b c))

;; Folds f over the ways to write m as i + j + k with i <= j <= k.
(define (fold-thirds f start m)
  (let outer ((i 0) (state start))
    (if (> (* 3 i) m)
        state
        (let inner ((j i) (state state))
          (if (> (* 2 j) (- m i))
              (outer (+ i 1) state)
              (inner (+ j 1) (f i j (- m i j) state)))))))

;; The tails of a list, for choosing from a class with repetition, or a class as a whole.
(define (for-each-tail f list)
  (if (pair? list)
      (begin (f list) (for-each-tail f (cdr list)))))

(define (choose as bs same? f)
  (for-each-tail (lambda (as) (for-each (lambda (b) (f (car as) b as)) (if same? as bs))) as))

(define (radicals-up-to n)
  (let ((radicals (make-vector (+ n 1) '(hydrogen))))
    (do ((k 1 (+ k 1)))
        ((> k n) radicals)
      (vector-set! radicals k (radicals-of k radicals)))))

(define (radicals-of k radicals)
  (fold-thirds
   (lambda (a b c found)
     (let ((as (vector-ref radicals a))
           (bs (vector-ref radicals b))
           (cs (vector-ref radicals c)))
       (let loop-a ((as as) (found found))
         (if (null? as)
             found
             (let loop-b ((bs (if (= a b) as bs)) (found found))
               (if (null? bs)
                   (loop-a (cdr as) found)
                   (let loop-c ((cs (if (= b c) bs cs)) (found found))
                     (if (null? cs)
                         (loop-b (cdr bs) found)
                         (loop-c (cdr cs)
                                 (cons (make-radical (car as) (car bs) (car cs)) found))))))))))
   '()
   (- k 1)))

;; Paraffins with a bond in the middle: two radicals of half the size.
(define (bond-centred n radicals)
  (if (odd? n)
      '()
      (let ((found '()) (half (vector-ref radicals (quotient n 2))))
        (choose half half #t (lambda (a b rest) (set! found (cons (vector 'bond a b) found))))
        found)))

;; Paraffins with an atom in the middle: four radicals, none of which has half of the atoms.
(define (atom-centred n radicals)
  (let ((most (quotient (- n 1) 2)) (found '()))
    (do ((a 0 (+ a 1)))
        ((> (* 4 a) (- n 1)) found)
      (do ((b a (+ b 1)))
          ((> (* 3 b) (- n 1 a)))
        (do ((c b (+ c 1)))
            ((> (* 2 c) (- n 1 a b)))
          (let ((d (- n 1 a b c)))
            (if (<= d most)
                (choose
                 (vector-ref radicals a)
                 (vector-ref radicals b)
                 (= a b)
                 (lambda (ra rb as)
                   (let ((bs (memq rb (vector-ref radicals b))))
                     (choose
                      (if (= b c) bs (vector-ref radicals c))
                      (vector-ref radicals d)
                      (= c d)
                      (lambda (rc rd cs)
                        (set! found (cons (vector 'atom ra rb rc rd) found)))))))))))))) 

(define (run n)
  (let ((radicals (radicals-up-to (quotient n 2))))
    (+ (length (bond-centred n radicals))
       (length (atom-centred n radicals)))))

(include "main.scm")
