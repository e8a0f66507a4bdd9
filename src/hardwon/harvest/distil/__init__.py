"""Lessons drawn by a model that the user chose; every one is checked against the words it cites."""
