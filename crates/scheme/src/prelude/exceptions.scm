;;; Exceptions and parameters. The dynamic state is (handlers . parameters).

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
              (guard-k (lambda () result)))))))))
    ((_ . other) (syntax-error "malformed guard: (guard (name clause …) body …)"))))

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
     (if test (begin body ...) (%cond-or other clause ...)))
    ((_ . other) (syntax-error "malformed guard: a clause is (test body …)"))))

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
          (if (not (and (pair? cell) (procedure? (cdr cell))))
              (%fail-type 'parameterize 1 "a parameter" (car parameters)))
          (loop (cdr parameters)
                (cdr values)
                (cons (cons cell ((cdr cell) (car values))) bound))))))

(define-syntax parameterize
  (syntax-rules ()
    ((_ ((parameter value) ...) body ...)
     (%bind-parameters (list parameter ...) (list value ...) (lambda () body ...)))
    ((_ . other)
     (syntax-error "malformed parameterize: (parameterize ((parameter value) …) body …)"))))
