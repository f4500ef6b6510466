(import (scheme base) (allod ffi))
(define c-abs (c-procedure "abs" (int) int))
(c-abs 1 2)
