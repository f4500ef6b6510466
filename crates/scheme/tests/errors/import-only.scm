(import (only (scheme base) car no-such-name))
(car 1)
