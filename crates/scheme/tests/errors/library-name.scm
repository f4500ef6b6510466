(define-library "a" (import (scheme base)))
