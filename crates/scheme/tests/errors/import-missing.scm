(import (scheme base))
(display 1)
