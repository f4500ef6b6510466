;; Boyer and Moore's way of proving: a term is rewritten by lemmas until no lemma applies, then tried as a
;; tautology of conditional expressions. The theorem grows with n; terms are built anew wherever they are rewritten.
(include "boyer.scm")

(define (rewrite-pair term first rest)
  (cons first rest))

(include "main.scm")
