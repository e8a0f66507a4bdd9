"""What failed, how it is recognised again, and what made it work: pure functions."""
