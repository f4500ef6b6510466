;; Boyer and Moore's way of proving, as nboyer, but a term whose parts stay the same is shared instead of built
;; anew: fewer pairs are made, and more comparisons.
(include "boyer.scm")

(define (rewrite-pair term first rest)
  (if (and (eq? first (car term)) (eq? rest (cdr term)))
      term
      (cons first rest)))

(include "main.scm")
