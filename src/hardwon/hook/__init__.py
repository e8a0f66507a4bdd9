"""What an agent's hook runs: starts cold at every call, so it imports next to nothing."""
