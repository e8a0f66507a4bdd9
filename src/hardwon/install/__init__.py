"""Hardwon in the settings of agents: put in, taken out, looked at. The rest of those settings is never touched."""
