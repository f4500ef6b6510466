;; Dantzig's simplex method on a tableau of flonums: the best of n random linear programs, added up.
(define seed 1)

(define (random! limit)
  (set! seed (modulo (+ (* seed 1103515245) 12345) 2147483648))
  (modulo (quotient seed 65536) limit))

(define variables 12)

(define constraints 10)

(define columns (+ variables constraints 1))

;; maximise c x subject to A x <= b, x >= 0: the rows of A with slack and b, and last the negative costs.
(define (make-tableau)
  (let ((rows (make-vector (+ constraints 1) #f)))
    (do ((i 0 (+ i 1)))
        ((> i constraints) rows)
      (let ((row (make-vector columns 0.0)))
        (do ((j 0 (+ j 1)))
            ((= j variables))
          (vector-set! row j
                       (inexact (if (= i constraints) (- (+ 1 (random! 20))) (+ 1 (random! 9))))))
        (if (< i constraints)
            (begin
              (vector-set! row (+ variables i) 1.0)
              (vector-set! row (- columns 1) (inexact (+ 50 (random! 100))))))
        (vector-set! rows i row)))))

;; The column with the most negative cost, or #f.
(define (entering costs)
  (let loop ((j 0) (best #f) (least -0.000000001))
    (cond ((= j (- columns 1)) best)
          ((< (vector-ref costs j) least) (loop (+ j 1) j (vector-ref costs j)))
          (else (loop (+ j 1) best least)))))

;; The row that limits the column most.
(define (leaving rows column)
  (let loop ((i 0) (best #f) (least 1e300))
    (if (= i constraints)
        best
        (let* ((row (vector-ref rows i)) (a (vector-ref row column)))
          (if (> a 0.000000001)
              (let ((limit (/ (vector-ref row (- columns 1)) a)))
                (if (< limit least) (loop (+ i 1) i limit) (loop (+ i 1) best least)))
              (loop (+ i 1) best least))))))

(define (pivot! rows at column)
  (let* ((row (vector-ref rows at)) (by (vector-ref row column)))
    (do ((j 0 (+ j 1)))
        ((= j columns))
      (vector-set! row j (/ (vector-ref row j) by)))
    (do ((i 0 (+ i 1)))
        ((> i constraints))
      (if (not (= i at))
          (let* ((other (vector-ref rows i)) (factor (vector-ref other column)))
            (do ((j 0 (+ j 1)))
                ((= j columns))
              (vector-set! other j (- (vector-ref other j) (* factor (vector-ref row j))))))))))

(define (maximum rows)
  (let* ((costs (vector-ref rows constraints)) (column (entering costs)))
    (if column
        (begin
          (pivot! rows (leaving rows column) column)
          (maximum rows))
        (vector-ref costs (- columns 1)))))

(define (run n)
  (let loop ((i 0) (sum 0.0))
    (if (= i n)
        (exact (round sum))
        (loop (+ i 1) (+ sum (maximum (make-tableau)))))))

(include "main.scm")
