(import (scheme base) (no such library))
