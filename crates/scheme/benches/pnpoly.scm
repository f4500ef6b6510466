;; Which points lie in a polygon? Each is decided by counting crossings; the corners are vectors of flonums.
(define (inside? xs ys x y)
  (let ((n (vector-length xs)))
    (let loop ((i 0) (j (- n 1)) (in #f))
      (if (= i n)
          in
          (let ((xi (vector-ref xs i)) (yi (vector-ref ys i))
                (xj (vector-ref xs j)) (yj (vector-ref ys j)))
            (loop (+ i 1)
                  i
                  (if (and (or (and (<= yi y) (< y yj))
                               (and (<= yj y) (< y yi)))
                           (< x (+ xi (/ (* (- xj xi) (- y yi)) (- yj yi)))))
                      (not in)
                      in)))))))

(define xs (vector 0.0 1.0 1.0 0.0 0.0 1.0 -0.5 -1.0 -1.0 -2.0 -2.5 -2.0 -1.5 -0.5 1.0 1.0 0.0 -0.5 -1.0 -0.5))

(define ys (vector 0.0 0.0 1.0 1.0 2.0 3.0 2.0 3.0 0.0 -0.5 0.5 1.5 2.0 1.5 -1.0 -2.0 -1.0 -2.0 -1.0 -0.75))

;; How many points of a grid of n by n lie inside.
(define (run n)
  (let ((step (/ 5.0 n)))
    (let rows ((i 0) (count 0))
      (if (= i n)
          count
          (let columns ((j 0) (count count))
            (cond ((= j n) (rows (+ i 1) count))
                  ((inside? xs ys (+ -3.0 (* step j)) (+ -2.2 (* step i)))
                   (columns (+ j 1) (+ count 1)))
                  (else (columns (+ j 1) count))))))))

(include "main.scm")
