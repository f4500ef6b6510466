(guard e (raise 1))
