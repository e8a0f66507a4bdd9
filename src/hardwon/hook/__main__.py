"""`python -m hardwon.hook EVENT`: how agents are told to call the hook."""

from hardwon.hook.main import main

main()
