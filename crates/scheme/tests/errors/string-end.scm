(display "abc
