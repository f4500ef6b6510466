(import (scheme complex))
