"""`python -m oldhand.hook EVENT`: how agents are told to call the hook."""

from oldhand.hook.main import main

main()
