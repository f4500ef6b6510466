(delay)
