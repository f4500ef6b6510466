;; A maze, made without assignment: n by n cells (n odd) as a list of lists, whose walls are pulled down in a random
;; order where they keep two parts of the maze apart.
(define (next-random seed) (modulo (+ (* seed 3581) 12751) 131072))

(define (iota n)
  (let loop ((i (- n 1)) (list '()))
    (if (< i 0) list (loop (- i 1) (cons i list)))))

(define (append-map f list)
  (if (null? list)
      '()
      (append (f (car list)) (append-map f (cdr list)))))

;; Joins the parts of a list in an order drawn from a seed.
(define (shuffle list seed)
  (if (or (null? list) (null? (cdr list)))
      list
      (let split ((list list) (seed seed) (left '()) (right '()))
        (if (null? list)
            (append (shuffle left (next-random seed))
                    (shuffle right (next-random (+ seed 1))))
            (let ((seed (next-random seed)))
              (if (even? (quotient seed 64))
                  (split (cdr list) seed (cons (car list) left) right)
                  (split (cdr list) seed left (cons (car list) right))))))))

(define (make-matrix n f)
  (map (lambda (i) (map (lambda (j) (f i j)) (iota n))) (iota n)))

(define (matrix-read m i j) (list-ref (list-ref m i) j))

(define (list-with list i value)
  (if (= i 0)
      (cons value (cdr list))
      (cons (car list) (list-with (cdr list) (- i 1) value))))

(define (matrix-with m i j value)
  (list-with m i (list-with (list-ref m i) j value)))

(define (matrix-map f m)
  (map (lambda (row) (map f row)) m))

;; Cells with even coordinates are caves, each with a number of its own; 0 is a wall.
(define (caves n)
  (make-matrix n (lambda (i j) (if (and (even? i) (even? j)) (+ 1 (* i n) j) 0))))

;; The walls between two caves.
(define (walls n)
  (append-map
   (lambda (i)
     (append-map
      (lambda (j)
        (if (odd? (+ i j)) (list (cons i j)) '()))
      (iota n)))
   (iota n)))

(define (pull-down walls m)
  (if (null? walls)
      m
      (let* ((i (caar walls))
             (j (cdar walls))
             (across? (odd? i))
             (a (if across? (matrix-read m (- i 1) j) (matrix-read m i (- j 1))))
             (b (if across? (matrix-read m (+ i 1) j) (matrix-read m i (+ j 1)))))
        (pull-down (cdr walls)
                   (if (= a b)
                       m
                       (matrix-with (matrix-map (lambda (x) (if (= x b) a x)) m) i j a))))))

(define (maze n seed) (pull-down (shuffle (walls n) seed) (caves n)))

;; The open cells, and a sum that depends on where they are.
(define (signature m)
  (let rows ((m m) (i 1) (sum 0))
    (if (null? m)
        sum
        (let columns ((row (car m)) (j 1) (sum sum))
          (cond ((null? row) (rows (cdr m) (+ i 1) sum))
                ((= (car row) 0) (columns (cdr row) (+ j 1) sum))
                (else (columns (cdr row) (+ j 1) (modulo (+ sum (* i j)) 1000003))))))))

(define (run n)
  (let loop ((i 0) (sum 0))
    (if (= i n)
        sum
        (loop (+ i 1) (modulo (+ sum (signature (maze 11 i))) 1000003)))))

(include "main.scm")
