(display '(a #1# b))
