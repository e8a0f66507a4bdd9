"""Find what is known: full text over lessons and failures."""
