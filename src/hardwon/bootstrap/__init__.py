"""The briefing a session starts with: lanes, budget, fence; or nothing, when nothing is worth it."""
