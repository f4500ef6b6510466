;; A ray tracer: spheres above a floor, lit from one side, n by n pixels. The result is the sum of the grey levels.
(define-record-type sphere (make-sphere x y z radius colour) sphere?
  (x sphere-x) (y sphere-y) (z sphere-z) (radius sphere-radius) (colour sphere-colour))

(define world
  (let rows ((i 0) (all (list (make-sphere 0.0 -3000.0 -1200.0 2800.0 0.5))))
    (if (= i 4)
        all
        (let columns ((j 0) (all all))
          (if (= j 4)
              (rows (+ i 1) all)
              (columns (+ j 1)
                       (cons (make-sphere (- (* j 220.0) 330.0) (- (* i 90.0) 130.0) (- (* i -260.0) 500.0)
                                          80.0 (+ 0.4 (* 0.15 j)))
                             all)))))))

;; How far along the ray it meets the sphere first, or #f. The direction has length 1.
(define (distance s px py pz dx dy dz)
  (let* ((cx (- (sphere-x s) px))
         (cy (- (sphere-y s) py))
         (cz (- (sphere-z s) pz))
         (along (+ (* cx dx) (* cy dy) (* cz dz)))
         (square (- (+ (* cx cx) (* cy cy) (* cz cz)) (* along along)))
         (rest (- (* (sphere-radius s) (sphere-radius s)) square)))
    (if (< rest 0.0)
        #f
        (let* ((half (sqrt rest)) (near (- along half)))
          (if (> near 0.01) near #f)))))

;; The colour that is seen along a ray.
(define (trace px py pz dx dy dz)
  (let loop ((all world) (nearest #f) (best 1e30))
    (if (pair? all)
        (let ((d (distance (car all) px py pz dx dy dz)))
          (if (and d (< d best))
              (loop (cdr all) (car all) d)
              (loop (cdr all) nearest best)))
        (if nearest
            (shade nearest (+ px (* best dx)) (+ py (* best dy)) (+ pz (* best dz)))
            0.0))))

;; The light that a point of a sphere gives back: less in a shadow.
(define (shade s x y z)
  (let* ((r (sphere-radius s))
         (nx (/ (- x (sphere-x s)) r))
         (ny (/ (- y (sphere-y s)) r))
         (nz (/ (- z (sphere-z s)) r))
         (light (+ (* nx 0.48) (* ny 0.6) (* nz 0.64))))
    (cond ((<= light 0.0) 0.0)
          ((dark? world x y z) (* 0.3 light (sphere-colour s)))
          (else (* light (sphere-colour s))))))

(define (dark? all x y z)
  (and (pair? all)
       (or (and (distance (car all) x y z 0.48 0.6 0.64) #t)
           (dark? (cdr all) x y z))))

(define (run n)
  (let ((step (/ 300.0 n)))
    (let rows ((i 0) (sum 0))
      (if (= i n)
          sum
          (let columns ((j 0) (sum sum))
            (if (= j n)
                (rows (+ i 1) sum)
                (let* ((x (- (* step j) 150.0))
                       (y (- (* step i) 150.0))
                       (z -200.0)
                       (length (sqrt (+ (* x x) (* y y) (* z z))))
                       (grey (trace 0.0 0.0 0.0 (/ x length) (/ y length) (/ z length))))
                  (columns (+ j 1) (+ sum (exact (floor (* 255.0 grey))))))))))))

(include "main.scm")
