(import (scheme base) (scheme eval))
