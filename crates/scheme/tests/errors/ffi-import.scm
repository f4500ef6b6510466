(define c-abs (c-procedure "abs" (int) int))
