(define-library (a) (import (scheme base)) (begin (define x 1)))
(define-library (a) (import (scheme base)) (begin (define x 2)))
(import (a))
