(include)
