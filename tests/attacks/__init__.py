"""Attacks that must come to nothing. Payloads are made at run time; `python -m benchmarks.attacks` counts them."""
