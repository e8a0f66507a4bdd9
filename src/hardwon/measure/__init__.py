"""Does it help? Replay over one's own history, and what it is judged by."""
