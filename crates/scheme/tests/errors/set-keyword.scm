(set! if 1)
