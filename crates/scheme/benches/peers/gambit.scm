;; Gambit's fastest settings with all checks, and what R7RS has and this version has not; then the program.
(declare (standard-bindings) (extended-bindings) (block))
(define (current-jiffy) (inexact->exact (floor (* 1000000 (real-time)))))
(define (jiffies-per-second) 1000000)
(define (exact x) (inexact->exact x))
(define (inexact x) (exact->inexact x))
(include "program.scm")
