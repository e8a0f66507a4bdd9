"""Find and read agents' transcripts: one module per format, all giving the same Session."""
