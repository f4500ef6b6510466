(import (scheme base)
        (rename (only (scheme base) car) (car cdr)))
(cdr '(1))
