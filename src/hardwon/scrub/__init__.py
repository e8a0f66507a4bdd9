"""Secrets, personal data and hostile characters out of a text before anything stores it."""
