;; What R7RS has and Chez Scheme has not, or has otherwise, then the program. The body is one `let`, so that
;; Chez knows that nobody else sees or assigns its definitions.
(import (chezscheme))
;; The longest collection is told where TELL_PAUSE is set, in runs whose time does not count.
(define longest 0.)
(define (milliseconds time)
  (+ (* 1e3 (time-second time)) (/ (time-nanosecond time) 1e6)))
(define (collect-and-measure)
  (let ((start (current-time 'time-monotonic)))
    (collect)
    (set! longest
          (max longest
               (milliseconds (time-difference (current-time 'time-monotonic) start))))))
(when (getenv "TELL_PAUSE")
  (collect-request-handler collect-and-measure))
(let ()
  (define-syntax define-record-type
    (syntax-rules ()
      ((_ name (make argument ...) predicate field ...)
       (begin
         (define descriptor (make-record-type-descriptor 'name #f #f #f #f (field-names () field ...)))
         (define make
           (record-constructor (make-record-constructor-descriptor descriptor #f #f)))
         (define predicate (record-predicate descriptor))
         (define-fields descriptor 0 field ...)))))
  (define-syntax field-names
    (syntax-rules ()
      ((_ (done ...)) '#(done ...))
      ((_ (done ...) (name rest ...) more ...) (field-names (done ... (mutable name)) more ...))))
  (define-syntax define-fields
    (syntax-rules ()
      ((_ descriptor i) (begin))
      ((_ descriptor i (name get) more ...)
       (begin
         (define get (record-accessor descriptor i))
         (define-fields descriptor (+ i 1) more ...)))
      ((_ descriptor i (name get set) more ...)
       (begin
         (define get (record-accessor descriptor i))
         (define set (record-mutator descriptor i))
         (define-fields descriptor (+ i 1) more ...)))))
  (define (write-string string port) (put-string port string))
  (define (current-jiffy)
    (let ((now (current-time 'time-monotonic)))
      (+ (* 1000000 (time-second now)) (quotient (time-nanosecond now) 1000))))
  (define (jiffies-per-second) 1000000)
  (include "program.scm"))
(when (getenv "TELL_PAUSE")
  (fprintf (current-error-port) "longest pause ~a ms\n" longest))
