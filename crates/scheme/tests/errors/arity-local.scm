(let loop ((i 0))
  (if (> i 3) (loop)))
