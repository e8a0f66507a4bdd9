"""Pure functions over strings: the bottom of everything that matches, counts or prints text."""
