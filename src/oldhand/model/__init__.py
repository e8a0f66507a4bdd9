"""The nouns of Oldhand as msgspec Structs: no I/O, nothing of ours imported."""
