;;; Ports and the system.

;;; ---- Ports ------------------------------------------------------------------------------------

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

;;; ---- The system -------------------------------------------------------------------------------

(define (features) '(r7rs exact-closed ratios full-unicode allod linux posix))

(define (%exit-hook)
  (if (pair? (%winders)) (%reroot! '())))
(define exit
  (case-lambda
    (() (%exit-hook) (%exit #t))
    ((code) (%exit-hook) (%exit code))))
(define emergency-exit
  (case-lambda (() (%exit #t #t)) ((code) (%exit code #t))))
