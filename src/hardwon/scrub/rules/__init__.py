"""The tables of rules, by what the secrets open, in the notation of `shapes.py`; `scrubber.py` puts them together."""
