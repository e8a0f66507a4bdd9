"""The nouns of Hardwon as msgspec Structs: no I/O, nothing of ours imported."""
