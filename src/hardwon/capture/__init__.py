"""Live intake: what was tried and what failed, as it happens; nothing here may stop the caller."""
