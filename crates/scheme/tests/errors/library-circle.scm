(define-library (a) (import (a)))
(import (a))
