"""The Python API: what the command line, the hooks and every other surface are made of."""

from hardwon.api.hardwon import Hardwon

__all__ = ["Hardwon"]
