(display if)
