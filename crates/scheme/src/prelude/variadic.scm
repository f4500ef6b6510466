;;; What every program begins with: the procedures and syntax of R7RS-small that are Scheme themselves.
;;; What a program does not use is left out. Names with % are for these files only.
;;;
;;; Procedures of any number of arguments.

(define-syntax %define-fold
  (syntax-rules ()
    ((_ name two unit)
     (define (name . all)
       (if (null? all)
           unit
           (let loop ((sum (two unit (car all))) (rest (cdr all)))
             (if (null? rest) sum (loop (two sum (car rest)) (cdr rest)))))))))

(%define-fold %any+ %add 0)
(%define-fold %any* %mul 1)

(define-syntax %define-difference
  (syntax-rules ()
    ((_ name two unit)
     (define (name first . all)
       (if (null? all)
           (two unit first)
           (let loop ((sum first) (rest all))
             (if (null? rest) sum (loop (two sum (car rest)) (cdr rest)))))))))

(%define-difference %any- %sub 0)
(%define-difference %any/ %div 1)

(define-syntax %define-choice
  (syntax-rules ()
    ((_ name two)
     (define (name first . all)
       (let loop ((best (two first first)) (rest all))
         (if (null? rest) best (loop (two best (car rest)) (cdr rest))))))))

(%define-choice %anymax %max2)
(%define-choice %anymin %min2)

;; Every argument is looked at, also after the answer is known.
(define-syntax %define-chain
  (syntax-rules ()
    ((_ name two)
     (define (name first . all)
       (if (null? all)
           (begin (two first first) #t)
           (let loop ((answer #t) (before first) (rest all))
             (if (null? rest)
                 answer
                 (loop (if (two before (car rest)) answer #f) (car rest) (cdr rest)))))))))

(%define-chain %any= %num=)
(%define-chain %any< %num<)
(%define-chain %any> %num>)
(%define-chain %any<= %num<=)
(%define-chain %any>= %num>=)
(%define-chain %anychar=? %char=?)
(%define-chain %anychar<? %char<?)
(%define-chain %anychar<=? %char<=?)
(define (%char>? a b) (%char<? b a))
(define (%char>=? a b) (%char<=? b a))
(%define-chain char>? %char>?)
(%define-chain char>=? %char>=?)

(define-syntax %define-char-ci
  (syntax-rules ()
    ((_ name two)
     (define (name first . all)
       (apply two (char-foldcase first) (map char-foldcase all))))))

(%define-char-ci char-ci=? char=?)
(%define-char-ci char-ci<? char<?)
(%define-char-ci char-ci>? char>?)
(%define-char-ci char-ci<=? char<=?)
(%define-char-ci char-ci>=? char>=?)

(define (%anyappend . all)
  (if (null? all)
      '()
      (let loop ((all all))
        (if (null? (cdr all))
            (car all)
            (%append2 (car all) (loop (cdr all)))))))

(define (%anylist . all) all)

(define (gcd . all)
  (let loop ((sum 0) (rest all))
    (if (null? rest) sum (loop (%gcd2 sum (car rest)) (cdr rest)))))
(define (lcm . all)
  (let loop ((product 1) (rest all))
    (if (null? rest) product (loop (%lcm2 product (car rest)) (cdr rest)))))

(define-syntax %define-same
  (syntax-rules ()
    ((_ name is? what)
     (define (name first second . rest)
       (if (not (is? first)) (%fail-type 'name 1 what first))
       (let loop ((answer #t) (n 2) (all (cons second rest)))
         (if (null? all)
             answer
             (begin
               (if (not (is? (car all))) (%fail-type 'name n what (car all)))
               (loop (if (eq? first (car all)) answer #f) (+ n 1) (cdr all)))))))))

(%define-same boolean=? boolean? "a boolean")
(%define-same symbol=? symbol? "a symbol")

(define-syntax %define-strings
  (syntax-rules ()
    ((_ name (order) test)
     (define (name first . all)
       (if (null? all)
           (begin (%string-compare first first) #t)
           (let loop ((answer #t) (before first) (rest all))
             (if (null? rest)
                 answer
                 (loop (let ((order (%string-compare before (car rest)))) (if test answer #f))
                       (car rest)
                       (cdr rest)))))))))

(%define-strings string=? (order) (eq? order 0))
(%define-strings string<? (order) (eq? order -1))
(%define-strings string>? (order) (eq? order 1))
(%define-strings string<=? (order) (not (eq? order 1)))
(%define-strings string>=? (order) (not (eq? order -1)))

(define-syntax %define-string-ci
  (syntax-rules ()
    ((_ name two)
     (define (name first . all)
       (apply two (string-foldcase first) (map string-foldcase all))))))

(%define-string-ci string-ci=? string=?)
(%define-string-ci string-ci<? string<?)
(%define-string-ci string-ci>? string>?)
(%define-string-ci string-ci<=? string<=?)
(%define-string-ci string-ci>=? string>=?)

(define (string . all) (list->string all))
(define (string-append . all) (%string-append all))
(define (vector-append . all) (%vector-append all))
(define (bytevector . all) (%list->bytevector all))
(define (bytevector-append . all) (%bytevector-append all))
