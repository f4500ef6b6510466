;;; What every program begins with: the procedures and syntax of R7RS-small that are Scheme themselves.
;;; What a program does not use is left out. Names with % are for this file only.

;;; ---- Procedures of any number of arguments -----------------------------------------------------

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

;;; ---- Numbers -------------------------------------------------------------------------------------

(define (complex? x) (number? x))
(define (real? x) (number? x))
(define (square x) (%mul x x))
(define (truncate-quotient a b) (quotient a b))
(define (truncate-remainder a b) (remainder a b))
(define (floor-remainder a b) (modulo a b))
(define (truncate/ a b) (values (quotient a b) (remainder a b)))
(define (floor/ a b) (values (floor-quotient a b) (modulo a b)))
(define (exact-integer-sqrt n)
  (let ((root (%exact-integer-sqrt n)))
    (values root (- n (* root root)))))

;;; ---- Lists ---------------------------------------------------------------------------------------

(define-syntax %define-cxr
  (syntax-rules ()
    ((_ (name outer inner) ...)
     (begin (define (name x) (outer (inner x))) ...))))

(%define-cxr
 (caar car car) (cadr car cdr) (cdar cdr car) (cddr cdr cdr)
 (caaar car caar) (caadr car cadr) (cadar car cdar) (caddr car cddr)
 (cdaar cdr caar) (cdadr cdr cadr) (cddar cdr cdar) (cdddr cdr cddr)
 (caaaar car caaar) (caaadr car caadr) (caadar car cadar) (caaddr car caddr)
 (cadaar car cdaar) (cadadr car cdadr) (caddar car cddar) (cadddr car cdddr)
 (cdaaar cdr caaar) (cdaadr cdr caadr) (cdadar cdr cadar) (cdaddr cdr caddr)
 (cddaar cdr cdaar) (cddadr cdr cdadr) (cdddar cdr cddar) (cddddr cdr cdddr))

(define (list-set! list k value) (set-car! (list-tail list k) value))

(define member
  (case-lambda
    ((x list) (%member x list))
    ((x list same?)
     (let loop ((rest list))
       (cond ((null? rest) #f)
             ((same? x (car rest)) rest)
             (else (loop (cdr rest))))))))

(define assoc
  (case-lambda
    ((x list) (%assoc x list))
    ((x list same?)
     (let loop ((rest list))
       (cond ((null? rest) #f)
             ((same? x (car (car rest))) (car rest))
             (else (loop (cdr rest))))))))

;;; ---- Control -------------------------------------------------------------------------------------

(define (%map1 f list)
  (let loop ((list list) (done '()))
    (if (pair? list)
        (loop (cdr list) (cons (f (car list)) done))
        (reverse done))))

(define (%any-empty? lists)
  (and (pair? lists)
       (or (not (pair? (car lists))) (%any-empty? (cdr lists)))))

(define map
  (case-lambda
    ((f list) (%map1 f list))
    ((f a b)
     (let loop ((a a) (b b) (done '()))
       (if (and (pair? a) (pair? b))
           (loop (cdr a) (cdr b) (cons (f (car a) (car b)) done))
           (reverse done))))
    ((f . lists)
     (let loop ((lists lists) (done '()))
       (if (%any-empty? lists)
           (reverse done)
           (loop (%map1 cdr lists) (cons (apply f (%map1 car lists)) done)))))))

(define for-each
  (case-lambda
    ((f list)
     (let loop ((list list))
       (if (pair? list)
           (begin (f (car list)) (loop (cdr list))))))
    ((f . lists)
     (let loop ((lists lists))
       (if (not (%any-empty? lists))
           (begin
             (apply f (%map1 car lists))
             (loop (%map1 cdr lists))))))))

(define (%shortest length all)
  (let loop ((least (length (car all))) (rest (cdr all)))
    (if (null? rest) least (loop (min least (length (car rest))) (cdr rest)))))

(define vector-map
  (case-lambda
    ((f v)
     (let ((n (vector-length v)))
       (let loop ((i 0) (done '()))
         (if (< i n)
             (loop (+ i 1) (cons (f (vector-ref v i)) done))
             (list->vector (reverse done))))))
    ((f . all)
     (list->vector (%map-indexed f vector-ref all (%shortest vector-length all))))))

(define (string-map f . all)
  (list->string (%map-indexed f string-ref all (%shortest string-length all))))

(define (%map-indexed f ref all n)
  (let loop ((i 0) (done '()))
    (if (= i n)
        (reverse done)
        (loop (+ i 1)
              (cons (if (null? (cdr all))
                        (f (ref (car all) i))
                        (apply f (%map1 (lambda (one) (ref one i)) all)))
                    done)))))

(define (%for-each-indexed f ref all n)
  (let loop ((i 0))
    (if (< i n)
        (begin
          (if (null? (cdr all))
              (f (ref (car all) i))
              (apply f (%map1 (lambda (one) (ref one i)) all)))
          (loop (+ i 1))))))

(define vector-for-each
  (case-lambda
    ((f v)
     (let ((n (vector-length v)))
       (let loop ((i 0))
         (if (< i n)
             (begin (f (vector-ref v i)) (loop (+ i 1)))))))
    ((f . all)
     (%for-each-indexed f vector-ref all (%shortest vector-length all)))))

(define (string-for-each f . all)
  (%for-each-indexed f string-ref all (%shortest string-length all)))

(define (call-with-values producer consumer)
  (apply consumer (%values->list (producer))))

(define (%rest-of-values all) (cdr all))
(define (%no-more-values all)
  (if (not (null? all)) (error "define-values: too many values" all)))

;; The winders are a list of (before . after), the innermost first.
(define (dynamic-wind before thunk after)
  (before)
  (%set-winders! (cons (cons before after) (%winders)))
  (let ((result (thunk)))
    (%set-winders! (cdr (%winders)))
    (after)
    result))

(define (%reroot! to)
  (let ((from (%winders)))
    (if (not (eq? from to))
        (let ((m (length from)) (n (length to)))
          (cond ((> m n)
                 (%set-winders! (cdr from))
                 ((cdr (car from)))
                 (%reroot! to))
                ((> n m)
                 (%reroot! (cdr to))
                 ((car (car to)))
                 (%set-winders! to))
                (else
                 (%set-winders! (cdr from))
                 ((cdr (car from)))
                 (%reroot! (cdr to))
                 ((car (car to)))
                 (%set-winders! to)))))))

(define (%with-continuation call f)
  (let ((winders (%winders)))
    (call
     (lambda (k)
       (f (lambda all
            (if (not (eq? winders (%winders))) (%reroot! winders))
            (apply k all)))))))

(define (call/cc f) (%with-continuation %callcc f))
(define (call-with-current-continuation f) (%with-continuation %callcc f))
(define (%call/ec f) (%with-continuation %callec f))

;;; ---- Exceptions and parameters: the dynamic state is (handlers . parameters) ---------------------

(define (%handlers) (let ((state (%dynamic))) (if (pair? state) (car state) '())))
(define (%parameters) (let ((state (%dynamic))) (if (pair? state) (cdr state) '())))

(define (%with-dynamic state thunk)
  (let ((before (%dynamic)))
    (%set-dynamic! state)
    (let ((result (thunk)))
      (%set-dynamic! before)
      result)))

(define (with-exception-handler handler thunk)
  (if (not (procedure? handler)) (%fail-type 'with-exception-handler 1 "a procedure" handler))
  (%with-dynamic (cons (cons handler (%handlers)) (%parameters)) thunk))

(define (%raise condition)
  (let ((handlers (%handlers)))
    (if (null? handlers)
        (%uncaught condition)
        (begin
          (%with-dynamic (cons (cdr handlers) (%parameters))
                         (lambda () ((car handlers) condition)))
          (%set-dynamic! (cons (cdr handlers) (%parameters)))
          (%handler-returned condition)))))
(define (raise condition) (%raise condition))

(define (%raise-continuable condition)
  (let ((handlers (%handlers)))
    (if (null? handlers)
        (%uncaught condition)
        (%with-dynamic (cons (cdr handlers) (%parameters))
                       (lambda () ((car handlers) condition))))))
(define (raise-continuable condition) (%raise-continuable condition))

(define (error message . irritants) (%raise (%make-error 0 message irritants)))
(define (error-object? x) (%error-object? x))

(define-syntax guard
  (syntax-rules ()
    ((_ (var clause ...) body ...)
     ((%call/ec
       (lambda (guard-k)
         (with-exception-handler
          (lambda (condition)
            (%guard-clauses guard-k condition var (clause ...)))
          (lambda ()
            (let ((result (let () body ...)))
              (guard-k (lambda () result)))))))))))

;; With an else, nothing ever goes back to where the condition was raised.
(define-syntax %guard-clauses
  (syntax-rules (else)
    ((_ guard-k condition var (clause ... (else result ...)))
     (guard-k (lambda () (let ((var condition)) (cond clause ... (else result ...))))))
    ((_ guard-k condition var (clause ...))
     ((call/cc
       (lambda (handler-k)
         (guard-k
          (lambda ()
            (let ((var condition))
              (%cond-or (handler-k (lambda () (raise-continuable condition))) clause ...))))))))))

(define-syntax %cond-or
  (syntax-rules (=>)
    ((_ other) other)
    ((_ other (test => receiver) clause ...)
     (let ((value test)) (if value (receiver value) (%cond-or other clause ...))))
    ((_ other (test) clause ...)
     (let ((value test)) (if value value (%cond-or other clause ...))))
    ((_ other (test body ...) clause ...)
     (if test (begin body ...) (%cond-or other clause ...)))))

;; A parameter is a procedure that knows two secrets: with one it gives its key and its converter.
(define %parameter-key (list 'parameter))

(define make-parameter
  (case-lambda
    ((value) (%parameter value (lambda (x) x)))
    ((value convert) (%parameter (convert value) convert))))

(define (%parameter value convert)
  (let ((cell (cons value convert)))
    (case-lambda
      (() (let ((found (assq cell (%parameters)))) (if found (cdr found) (car cell))))
      ((key) (if (eq? key %parameter-key) cell (error "a parameter takes no arguments"))))))

(define (%bind-parameters parameters values thunk)
  (let loop ((parameters parameters) (values values) (bound (%parameters)))
    (if (null? parameters)
        (%with-dynamic (cons (%handlers) bound) thunk)
        (let ((cell ((car parameters) %parameter-key)))
          (loop (cdr parameters)
                (cdr values)
                (cons (cons cell ((cdr cell) (car values))) bound))))))

(define-syntax parameterize
  (syntax-rules ()
    ((_ ((parameter value) ...) body ...)
     (%bind-parameters (list parameter ...) (list value ...) (lambda () body ...)))))

;;; ---- Values --------------------------------------------------------------------------------------

(define-syntax let-values
  (syntax-rules ()
    ((_ (binding ...) body0 body1 ...)
     (let-values "bind" (binding ...) () (let () body0 body1 ...)))
    ((_ "bind" () temporaries body) (let temporaries body))
    ((_ "bind" ((formals value) binding ...) temporaries body)
     (let-values "formals" formals value () (binding ...) temporaries body))
    ((_ "formals" () value arguments bindings temporaries body)
     (call-with-values (lambda () value)
       (lambda arguments (let-values "bind" bindings temporaries body))))
    ((_ "formals" (a . rest) value (argument ...) bindings (temporary ...) body)
     (let-values "formals" rest value (argument ... x) bindings (temporary ... (a x)) body))
    ((_ "formals" a value (argument ...) bindings (temporary ...) body)
     (call-with-values (lambda () value)
       (lambda (argument ... . x)
         (let-values "bind" bindings (temporary ... (a x)) body))))))

(define-syntax let*-values
  (syntax-rules ()
    ((_ () body0 body1 ...) (let () body0 body1 ...))
    ((_ (binding0 binding1 ...) body0 body1 ...)
     (let-values (binding0) (let*-values (binding1 ...) body0 body1 ...)))))

;;; ---- Promises ------------------------------------------------------------------------------------

(define-syntax delay-force
  (syntax-rules () ((_ expression) (%make-promise #f (lambda () expression)))))
(define-syntax delay
  (syntax-rules () ((_ expression) (delay-force (%make-promise #t expression)))))

(define (make-promise value) (if (promise? value) value (%make-promise #t value)))

(define (force promise)
  (cond ((not (promise? promise)) promise)
        ((%promise-done? promise) (%promise-value promise))
        (else
         (let ((next ((%promise-value promise))))
           (if (not (%promise-done? promise))
               (begin
                 (if (not (promise? next)) (%fail-type 'delay-force 1 "a promise" next))
                 (%promise-set! promise (%promise-done? next) (%promise-value next))
                 (%promise-share! promise next)))
           (force promise)))))

;;; ---- Ports ---------------------------------------------------------------------------------------

(define current-input-port (make-parameter (%standard-port 0)))
(define current-output-port (make-parameter (%standard-port 1)))
(define current-error-port (make-parameter (%standard-port 2)))

(define-syntax %define-from
  (syntax-rules ()
    ((_ name primitive)
     (define name
       (case-lambda
         (() (primitive (current-input-port)))
         ((port) (primitive port)))))))

(%define-from read-char %read-char)
(%define-from peek-char %peek-char)
(%define-from read-line %read-line)
(%define-from read-u8 %read-u8)
(%define-from peek-u8 %peek-u8)
(%define-from read %read)
(%define-from char-ready? %char-ready?)
(%define-from u8-ready? %char-ready?)

(define read-string
  (case-lambda
    ((k) (%read-string k (current-input-port)))
    ((k port) (%read-string k port))))
(define read-bytevector
  (case-lambda
    ((k) (%read-bytevector k (current-input-port)))
    ((k port) (%read-bytevector k port))))
(define read-bytevector!
  (case-lambda
    ((bytes) (%read-bytevector! bytes (current-input-port)))
    ((bytes port . range) (apply %read-bytevector! bytes port range))))

(define-syntax %define-to
  (syntax-rules ()
    ((_ (name value) (port) call)
     (define name
       (case-lambda
         ((value) (let ((port (current-output-port))) call))
         ((value port) call))))))

(%define-to (write x) (port) (%write x port 0))
(%define-to (display x) (port) (%write x port 1))
(%define-to (write-shared x) (port) (%write x port 2))
(%define-to (write-simple x) (port) (%write x port 3))
(%define-to (write-char x) (port) (%write-char x port))
(%define-to (write-u8 x) (port) (%write-u8 x port))

(define write-string
  (case-lambda
    ((text) (%write-string text (current-output-port)))
    ((text port) (%write-string text port))
    ((text port . range) (apply %write-string text port range))))
(define write-bytevector
  (case-lambda
    ((bytes) (%write-bytevector bytes (current-output-port)))
    ((bytes port) (%write-bytevector bytes port))
    ((bytes port . range) (apply %write-bytevector bytes port range))))
(define newline
  (case-lambda (() (%newline (current-output-port))) ((port) (%newline port))))
(define flush-output-port
  (case-lambda (() (%flush (current-output-port))) ((port) (%flush port))))

(define (open-input-string text) (%open-input-string text))
(define (open-output-string) (%open-output #f))
(define (open-input-bytevector bytes) (%open-input-bytevector bytes))
(define (open-output-bytevector) (%open-output #t))
(define (open-input-file name) (%open-file name 0))
(define (open-output-file name) (%open-file name 1))
(define (open-binary-input-file name) (%open-file name 2))
(define (open-binary-output-file name) (%open-file name 3))
(define (close-port port) (%close-port port 2))
(define (close-input-port port) (%close-port port 0))
(define (close-output-port port) (%close-port port 1))
(define (input-port-open? port) (%port-open? port #t))
(define (output-port-open? port) (%port-open? port #f))

(define (call-with-port port f)
  (let ((result (f port)))
    (close-port port)
    result))
(define (call-with-input-file name f) (call-with-port (open-input-file name) f))
(define (call-with-output-file name f) (call-with-port (open-output-file name) f))
(define (with-input-from-file name thunk)
  (let* ((port (open-input-file name))
         (result (parameterize ((current-input-port port)) (thunk))))
    (close-port port)
    result))
(define (with-output-to-file name thunk)
  (let* ((port (open-output-file name))
         (result (parameterize ((current-output-port port)) (thunk))))
    (close-port port)
    result))

;;; ---- The system ----------------------------------------------------------------------------------

(define (features) '(r7rs exact-closed ratios full-unicode allod linux posix))

(define (%exit-hook)
  (if (pair? (%winders)) (%reroot! '())))
(define exit
  (case-lambda
    (() (%exit-hook) (%exit #t))
    ((code) (%exit-hook) (%exit code))))
(define emergency-exit
  (case-lambda (() (%exit #t #t)) ((code) (%exit code #t))))
