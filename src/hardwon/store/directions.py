"""Many vectors in memory, and which of them point most nearly the same way as another.

The signs of a vector's numbers, a bit each, tell how near it is to within a few hundredths. They are compared first;
what may be among the nearest by them is then compared by all its numbers, so that every similarity is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hardwon.store.database import Neighbour

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

_FEW = 4_096
"""So many are all compared exactly."""
_TRIED = 4
"""How many times as many as wanted are compared to know how near the last of them must be."""
_AT_ONCE = 8_192
_LEVELS = 7
"""The question's numbers are rounded to so many steps, and are then three planes of bits."""
_DOUBT = 1.75
"""How far signs may be wrong, in lengths of 1 / √dimensions: more than two standard deviations."""


def record(dimensions: int) -> numpy.dtype[Any]:
    """A vector as it is stored: a scale, and a byte for each dimension."""
    import numpy  # noqa: PLC0415 - only where semantics are asked for

    return numpy.dtype([("scale", "<f4"), ("steps", "i1", (dimensions,))])


class Signs(NamedTuple):
    """What is known of each vector at a glance."""

    bits: Array
    """A row for each 64 dimensions, a column for each vector."""
    ones: Array
    stretch: Array
    """What a product with the signs is multiplied by to be one with the vector."""

    @classmethod
    def of(cls, records: Array) -> Signs:
        import numpy  # noqa: PLC0415 - only where semantics are asked for

        dimensions = records["steps"].shape[1]
        bits = numpy.zeros((-(-dimensions // 64), len(records)), dtype="<u8")
        stretch = numpy.empty(len(records), dtype="<f4")
        for part in _parts(len(records)):
            steps = records["steps"][part]
            packed = numpy.zeros((len(steps), 8 * len(bits)), dtype="u1")
            packed[:, : -(-dimensions // 8)] = numpy.packbits(steps > 0, axis=1)
            bits[:, part] = packed.view("<u8").T
            stretch[part] = 1 / (records["scale"][part] * numpy.abs(steps.astype("<i2")).sum(axis=1))
        return cls(bits, numpy.bitwise_count(bits).sum(axis=0, dtype="<f4"), stretch)

    def similarity(self, wanted: Array) -> Array:
        """About how near each vector is."""
        import numpy  # noqa: PLC0415 - only where semantics are asked for

        lowest = numpy.float32(wanted.min())
        step = (numpy.float32(wanted.max()) - lowest) / _LEVELS or numpy.float32(1)
        levels = numpy.rint((wanted - lowest) / step).astype("u1")
        counted = self._shared(levels & 1)
        for place in range(1, _LEVELS.bit_length()):
            counted += self._shared(levels >> place & 1) << place
        product = counted.astype("<f4")
        product *= 2 * step
        product += 2 * lowest * self.ones
        product -= lowest * len(wanted) + step * levels.sum(dtype="<f4")
        product *= self.stretch
        return product

    def _shared(self, plane: Array) -> Array:
        """How many bits each vector has in common with these."""
        import numpy  # noqa: PLC0415 - only where semantics are asked for

        packed = numpy.packbits(plane)
        packed = numpy.pad(packed, (0, 8 * len(self.bits) - len(packed))).view("<u8")
        shared: Array = numpy.bitwise_count(self.bits & packed[:, None]).sum(axis=0, dtype="<u2")
        return shared


class Directions:
    """Items and their vectors; with signs, if there are enough of them to need any."""

    def __init__(self, items: Sequence[str], records: Array, signs: Signs | None = None) -> None:
        self.items = items
        self._records = records
        self._signs = signs if signs is not None or len(items) <= _FEW else Signs.of(records)

    def __len__(self) -> int:
        return len(self.items)

    def nearest(self, wanted: Array, count: int, least: float) -> list[Neighbour]:
        """The nearest so many to a vector of length 1, in no order; none that is less near than the least."""
        import numpy  # noqa: PLC0415 - only where semantics are asked for

        count = min(count, len(self.items))
        if not count:
            return []
        at = self._likely(wanted, count, least)
        similarity = self.similarity(wanted, at)
        best = numpy.argpartition(-similarity, min(count, len(at)) - 1)[:count] if len(at) else at
        return [Neighbour(self.items[at[each]], float(similarity[each])) for each in best if similarity[each] >= least]

    def similarity(self, wanted: Array, at: Array) -> Array:
        """Of these, exactly. Not by BLAS: its threads go on spinning when they are done."""
        import numpy  # noqa: PLC0415 - only where semantics are asked for

        found = numpy.empty(len(at), dtype="<f4")
        for part in _parts(len(at)):
            steps = self._records["steps"][at[part]].astype("<f4")
            found[part] = numpy.einsum("ij,j->i", steps, wanted) * self._records["scale"][at[part]]
        return found

    def _likely(self, wanted: Array, count: int, least: float) -> Array:
        """Where those are that may be among the nearest."""
        import numpy  # noqa: PLC0415 - only where semantics are asked for

        if self._signs is None:
            return numpy.arange(len(self.items))
        about = self._signs.similarity(wanted)
        some = min(len(about), _TRIED * count)
        tried = self.similarity(wanted, numpy.argpartition(-about, some - 1)[:some])
        reached = float(numpy.partition(tried, -count)[-count])
        return numpy.flatnonzero(about >= max(reached, least) - _DOUBT / len(wanted) ** 0.5)


def _parts(count: int) -> Iterator[slice]:
    return (slice(start, start + _AT_ONCE) for start in range(0, count, _AT_ONCE))
