(let-syntax 5 1)
