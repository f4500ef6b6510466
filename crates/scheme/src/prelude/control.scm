;;; Procedures that call procedures, continuations, and what is done around them.

;; A list that a loop has come to the end of. What it was is not kept alive to be told.
(define (%check-end who rest)
  (if (not (null? rest)) (%fail-type who 2 "a list" rest)))

(define (%map1 f list)
  (let loop ((list list) (done '()))
    (if (pair? list)
        (loop (cdr list) (cons (f (car list)) done))
        (begin (%check-end 'map list) (reverse done)))))

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
           (begin (f (car list)) (loop (cdr list)))
           (%check-end 'for-each list))))
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
