;; Placing the residues of a chain in space: each residue is turned against its predecessor in one of a few ways, and a
;; placement is kept where no two atoms come too close. A backtracking search over 3-D transformations, as
;; in the pseudoknot benchmark of Feeley, Turcotte and Lapalme, on a chain that is made up.
(define-record-type point (make-point x y z) point? (x point-x) (y point-y) (z point-z))

;; A rotation by its rows, then a translation.
(define-record-type transform (make-transform a b c d e f g h i tx ty tz) transform?
  (a t-a) (b t-b) (c t-c) (d t-d) (e t-e) (f t-f) (g t-g) (h t-h) (i t-i)
  (tx t-x) (ty t-y) (tz t-z))

(define (apply-transform t p)
  (let ((x (point-x p)) (y (point-y p)) (z (point-z p)))
    (make-point (+ (* (t-a t) x) (* (t-b t) y) (* (t-c t) z) (t-x t))
                (+ (* (t-d t) x) (* (t-e t) y) (* (t-f t) z) (t-y t))
                (+ (* (t-g t) x) (* (t-h t) y) (* (t-i t) z) (t-z t)))))

;; First u, then t.
(define (compose t u)
  (define (row a b c)
    (lambda (give)
      (give (+ (* a (t-a u)) (* b (t-d u)) (* c (t-g u)))
            (+ (* a (t-b u)) (* b (t-e u)) (* c (t-h u)))
            (+ (* a (t-c u)) (* b (t-f u)) (* c (t-i u)))
            (+ (* a (t-x u)) (* b (t-y u)) (* c (t-z u))))))
  ((row (t-a t) (t-b t) (t-c t))
   (lambda (a b c x)
     ((row (t-d t) (t-e t) (t-f t))
      (lambda (d e f y)
        ((row (t-g t) (t-h t) (t-i t))
         (lambda (g h i z)
           (make-transform a b c d e f g h i
                           (+ x (t-x t)) (+ y (t-y t)) (+ z (t-z t))))))))))

(define (turn-x angle)
  (let ((c (cos angle)) (s (sin angle)))
    (make-transform 1.0 0.0 0.0 0.0 c (- s) 0.0 s c 0.0 0.0 0.0)))

(define (turn-z angle)
  (let ((c (cos angle)) (s (sin angle)))
    (make-transform c (- s) 0.0 s c 0.0 0.0 0.0 1.0 0.0 0.0 0.0)))

(define (move-x distance)
  (make-transform 1.0 0.0 0.0 0.0 1.0 0.0 0.0 0.0 1.0 distance 0.0 0.0))

(define unmoved (move-x 0.0))

;; The ways in which a residue may follow another.
(define steps
  (map (lambda (angles)
         (compose (turn-x (car angles)) (compose (turn-z (cadr angles)) (move-x 1.6))))
       '((0.0 1.7) (1.6 1.2) (3.1 1.4) (4.7 1.5))))

(define atoms
  (list (make-point 0.0 0.0 0.0) (make-point 0.4 0.7 0.1) (make-point 0.5 -0.3 0.6)))

(define (far-enough? p q)
  (let ((x (- (point-x p) (point-x q)))
        (y (- (point-y p) (point-y q)))
        (z (- (point-z p) (point-z q))))
    (> (+ (* x x) (* y y) (* z z)) 2.2)))

(define (every? ok? list)
  (or (null? list)
      (and (ok? (car list)) (every? ok? (cdr list)))))

;; Whether a residue's atoms keep away from those placed before, but for its neighbour's.
(define (fits? residue placed)
  (or (null? placed)
      (every? (lambda (other)
                (every? (lambda (p) (every? (lambda (q) (far-enough? p q)) other)) residue))
              (cdr placed))))

;; The number of ways to place n more residues.
(define (search n transform placed)
  (if (= n 0)
      1
      (let loop ((steps steps) (count 0))
        (if (null? steps)
            count
            (let* ((next (compose transform (car steps)))
                   (residue (map (lambda (atom) (apply-transform next atom)) atoms)))
              (loop (cdr steps)
                    (if (fits? residue placed)
                        (+ count (search (- n 1) next (cons residue placed)))
                        count)))))))

(define (run n) (search n unmoved '()))

(include "main.scm")
