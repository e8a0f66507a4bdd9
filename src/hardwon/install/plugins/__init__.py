"""The plugins that are written into agents' folders; the command is filled in then."""
