"""The command line: one module per group of commands, heavy imports only inside them."""
