"""Find what is known, by words and by meaning; and whether a failure or an attempt was seen before."""
