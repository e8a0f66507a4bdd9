"""Does it help? Replay over one's own history, the experiment, and the numbers of how it goes."""
