(let-syntax ((one (syntax-rules () ((_) 1)))))
