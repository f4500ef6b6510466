(let-values ((a b 1)) a)
