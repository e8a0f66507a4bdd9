"""From sessions to lessons: sample, read, scrub, apply rules, gate, store."""
