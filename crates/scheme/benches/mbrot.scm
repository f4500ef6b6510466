;; The Mandelbrot set on a grid of n by n points: how many of them do not escape within 64 steps.
(define (stays? cr ci)
  (let loop ((zr cr) (zi ci) (count 0))
    (if (= count 64)
        #t
        (let ((zr2 (* zr zr)) (zi2 (* zi zi)))
          (if (> (+ zr2 zi2) 16.0)
              #f
              (loop (+ (- zr2 zi2) cr)
                    (+ (* 2.0 zr zi) ci)
                    (+ count 1)))))))

(define (run n)
  (let ((step (/ 2.0 n)))
    (let rows ((y 0) (inside 0))
      (if (= y n)
          inside
          (let columns ((x 0) (inside inside))
            (cond ((= x n) (rows (+ y 1) inside))
                  ((stays? (+ -1.5 (* step x)) (+ -1.0 (* step y)))
                   (columns (+ x 1) (+ inside 1)))
                  (else (columns (+ x 1) inside))))))))

(include "main.scm")
