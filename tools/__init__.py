"""Scripts that make files of this repository from others: `make generated`."""
