(display (unquote x))
