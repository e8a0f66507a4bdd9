"""`python -m hardwon` is `hardwon`."""

from hardwon.cli.app import main

main()
