"""The tables of rules, by what the secrets open; `registry.py` has them all."""
