"""From sessions to lessons: sample, read, scrub, apply rules, weigh by trust, store."""
