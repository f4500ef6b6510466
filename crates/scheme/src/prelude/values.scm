;;; Syntax for multiple values, and promises.

;;; ---- Values -----------------------------------------------------------------------------------

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
         (let-values "bind" bindings (temporary ... (a x)) body))))
    ((_ . other)
     (syntax-error "malformed let-values: (let-values ((formals value) …) body …)"))))

(define-syntax let*-values
  (syntax-rules ()
    ((_ () body0 body1 ...) (let () body0 body1 ...))
    ((_ (binding0 binding1 ...) body0 body1 ...)
     (let-values (binding0) (let*-values (binding1 ...) body0 body1 ...)))
    ((_ . other)
     (syntax-error "malformed let*-values: (let*-values ((formals value) …) body …)"))))

;;; ---- Promises ---------------------------------------------------------------------------------

(define-syntax delay-force
  (syntax-rules ()
    ((_ expression) (%make-promise #f (lambda () expression)))
    ((_ . other) (syntax-error "malformed delay-force: (delay-force expression)"))))
(define-syntax delay
  (syntax-rules ()
    ((_ expression) (delay-force (%make-promise #t expression)))
    ((_ . other) (syntax-error "malformed delay: (delay expression)"))))

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
