"""The tables of rules, by what the secrets open; `scrubber.py` puts them together."""
