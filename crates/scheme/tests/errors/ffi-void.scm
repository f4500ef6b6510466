(import (scheme base) (allod ffi))
(define f (c-procedure "f" (int void) void))
