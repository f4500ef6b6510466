(guard (e (#f 1) oops) (raise 'x))
