"""The store as pages for people: made here, without a script of anybody else's."""
