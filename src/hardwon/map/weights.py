"""The weights of the signals, in their order. Written by `python -m benchmarks.map_train --write`; not by hand."""

WEIGHTS = (0.180, 0.212, 0.354, 1.217, 1.756, 3.027, 1.555, 0.606)
WITHOUT_TASK = (0.665, 0.526)
