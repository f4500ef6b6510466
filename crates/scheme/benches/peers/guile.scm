;; Guile has all of R7RS; its libraries, then the program.
(import (scheme base) (scheme char) (scheme cxr) (scheme file) (scheme inexact) (scheme read)
        (scheme write) (scheme time) (scheme process-context))
(include "program.scm")
