(display 1 . 2)
