"""Measurements, always as ratios to something measured in the same run."""
