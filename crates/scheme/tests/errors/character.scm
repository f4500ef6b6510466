(display #\nosuchname)
