(lambda (x x) x)
