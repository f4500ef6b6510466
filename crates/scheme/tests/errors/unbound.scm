(import (scheme base))
(define (f x)
  (+ x unknown-name))
