(define-library (a) (export b) (import (scheme base)))
(import (a))
