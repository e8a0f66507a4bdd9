"""What a store goes through: kills, power failures, I/O errors, full disks, damage, clocks, crashes of a server."""
