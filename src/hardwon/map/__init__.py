"""Where to look: what of a project its sessions touched, and what the next task will most likely need."""
