(display #u8(1 256))
