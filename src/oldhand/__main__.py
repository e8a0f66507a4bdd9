"""`python -m oldhand` is `oldhand`."""

from oldhand.cli.app import main

main()
