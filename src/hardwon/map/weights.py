"""The weights of the signals, in their order. Written by `python -m benchmarks.map_train --write`; not by hand."""

WEIGHTS = (0.315, 0.206, 0.452, 1.311, 1.315, 1.305, 1.370, 0.660)
WITHOUT_TASK = (0.843, 0.324)
