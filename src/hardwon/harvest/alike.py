"""Whether two sentences say the same, or the opposite, or different things of the same; by their words.

The threshold for the same was chosen on STS-B (docs/trust.md). Over-merging is the worse mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Literal, NamedTuple

from hardwon.harvest import vocabulary
from hardwon.harvest.claim import Part, Thing, parts
from hardwon.text.words import terms

VERSION = 2
"""Rises with every change of what is told here: then all lessons are compared again."""
SAME = 0.9
"""The least share of what two sentences are about that both have, if they say the same."""
_COMMANDS = frozenset(("code", "path", "url", "name", "set"))
_SHORTEST_STEM = 3
_MOST_REPLACED = 2
"""One thing here and another there."""
_EXCHANGED = ({vocabulary.PLACING["in"], vocabulary.PLACING["for"]},)
_USE = vocabulary.root("use")
_USED = frozenset(vocabulary.DOING[vocabulary.root(word)] for word in ("use", "need", "contain"))
"""What is not used need not be there, as far as a contradiction goes."""
_PLACES = frozenset("in into under at on to onto inside within".split())
_MEANS = frozenset("with via through using by".split())

Relation = Literal["same", "opposite", "other value", "unrelated"]


class Gist(NamedTuple):
    """A sentence as it is compared."""

    words: frozenset[str]
    wanted: frozenset[str]
    unwanted: frozenset[str]
    parts: tuple[Part, ...]
    wholes: tuple[frozenset[str], ...]
    """What each part is about, in its context."""

    @property
    def things(self) -> frozenset[str]:
        return self.wanted | self.unwanted

    @property
    def values(self) -> frozenset[str]:
        """Names, numbers, paths, commands, and what has its place taken by others of its kind."""
        return frozenset(one.name for one in _things(self) if one.kind != "word" or one.name in vocabulary.GROUPS)

    @property
    def signed(self) -> frozenset[tuple[str, bool]]:
        return frozenset([(name, True) for name in self.wanted] + [(name, False) for name in self.unwanted])


def gist(text: str) -> Gist:
    found = parts(text)
    wanted, unwanted = (
        frozenset(thing.name for part in found if part.wanted == sign for thing in part.things)
        for sign in (True, False)
    )
    return Gist(frozenset(terms(text)), wanted, unwanted, found, tuple(part.names | part.context for part in found))


def similarity(a: Gist, b: Gist) -> float:
    union = a.words | b.words
    return len(a.words & b.words) / len(union) if union else 0.0


def keys(one: Gist) -> Iterator[frozenset[str]]:
    """Two sentences that are not unrelated have one of these in common."""
    for whole in one.wholes:
        yield whole
        for name in whole:
            yield whole - {name}
            for masked in _masked(name):
                yield whole - {name} | {masked}
    yield one.things


def relation(a: Gist, b: Gist) -> Relation:
    if not a.things or not b.things:
        return "unrelated"
    if a.parts == b.parts:
        return "same"
    for (mine, one), (theirs, other) in product(
        zip(a.parts, a.wholes, strict=True), zip(b.parts, b.wholes, strict=True)
    ):
        if len(one ^ other) <= _MOST_REPLACED:
            found = _between(mine, theirs, one, other)
            if found != "unrelated":
                return found
    if a.things == b.things and (a.wanted, a.unwanted) != (b.wanted, b.unwanted) and a.unwanted and b.unwanted:
        return "opposite"  # what one wants is what the other does not
    return "same" if shared(a, b) >= SAME and len(a.signed ^ b.signed) <= 1 else "unrelated"


def _between(a: Part, b: Part, mine: frozenset[str], theirs: frozenset[str]) -> Relation:
    """What contradicts: the same things wanted and not wanted, in another order, or one of them replaced."""
    if a.wanted != b.wanted:
        if (a.may and b.may) or not _do_alike(a.doing, b.doing, _USED):  # it may be done, and need not be
            return "unrelated"
        times = {"before", "after"}
        both = times <= mine | theirs
        return "opposite" if mine == theirs or (not both and mine - times == theirs - times) else "unrelated"
    if mine == theirs:
        return "opposite" if _turned_round(a, b) else "unrelated"
    if not a.wanted:
        return "unrelated"  # neither of two things is wanted
    only_mine, only_theirs = mine - theirs, theirs - mine
    if len(only_mine) == len(only_theirs) == 1:
        return _replaced(a, b, *only_mine, *only_theirs)
    return "unrelated"


def _do_alike(mine: frozenset[int], theirs: frozenset[int], taken_as_one: frozenset[int] = frozenset()) -> bool:
    shared = mine & theirs or (mine & taken_as_one and theirs & taken_as_one)
    return not mine or not theirs or bool(shared)


def _turned_round(a: Part, b: Part) -> bool:
    heads = _heads(a), _heads(b)
    return any(heads[0].get(when, "") != heads[1].get(when, "") for when in ("before", "after") if when in a.names)


def _heads(part: Part) -> dict[str, str]:
    """What stands first after each word that has a direction."""
    found: dict[str, str] = {}
    for thing in part.things:
        if thing.after in vocabulary.DIRECTED:
            found.setdefault(thing.after, thing.name)
    return found


def _replaced(a: Part, b: Part, mine: str, theirs: str) -> Relation:
    """One thing in the place of another: its opposite, another of its kind, or something else."""
    if frozenset((mine, theirs)) in vocabulary.ANTONYMS or _negated_form(mine, theirs):
        return "opposite"
    one = next((thing for thing in a.things if thing.name == mine), None)
    other = next((thing for thing in b.things if thing.name == theirs), None)
    if one is None or other is None:
        return "unrelated"
    return "other value" if _same_slot(one, other, a, b) else "unrelated"


def _negated_form(one: str, other: str) -> bool:
    """`versioned` and `unversioned`; their stems may end in different places."""
    for plain, negated in ((one, other), (other, one)):
        for prefix in vocabulary.PREFIXES:
            bare = negated.removeprefix(prefix)
            if bare != negated and len(bare) > _SHORTEST_STEM and (bare.startswith(plain) or plain.startswith(bare)):
                return True
    return False


def _same_slot(one: Thing, other: Thing, a: Part, b: Part) -> bool:
    if not a.names & b.names and not _one_argument(one.name, other.name):
        return False  # nothing is said of either
    if one.kind == other.kind == "number":
        return True
    group = vocabulary.GROUPS.get(one.name)
    if group is not None and group == vocabulary.GROUPS.get(other.name):
        return True
    if one.kind == other.kind == "set":
        return one.name.partition("=")[0] == other.name.partition("=")[0]
    if {one.kind, other.kind} <= _COMMANDS:
        return _one_argument(one.name, other.name) or (_holds_one(one.after, other.after, a, b) and _is_framed(a, b))
    return False


def _one_argument(one: str, other: str) -> bool:
    """`pytest -n 4` and `pytest -n 8`: the same command but for the value of an option."""
    return not _masked(one).isdisjoint(_masked(other))


def _masked(command: str) -> frozenset[str]:
    """A command without the value of one of its options, in turn."""
    words = command.split()
    valued = [at for at in range(1, len(words)) if words[at - 1].startswith("-") and not words[at].startswith("-")]
    return frozenset(" ".join([*words[:at], "…", *words[at + 1 :]]) for at in valued)


def _holds_one(mine: str, theirs: str, a: Part, b: Part) -> bool:
    """What stands there is the only one: where something is, what it is done with or for, what it is."""
    if mine == theirs == _USE:
        return all(any(thing.after == "for" for thing in part.things) for part in (a, b))
    return any(mine in some and theirs in some for some in (_PLACES, _MEANS, {"from"}, {"be"}))


def _is_framed(a: Part, b: Part) -> bool:
    """Something is said of something; and not of what to do at times, of which there may be many."""
    return len(a.names & b.names) >= 1 and not vocabulary.SCOPING & (a.names | b.names)


def shared(a: Gist, b: Gist) -> float:
    """The share of what both are about; 0 where one is not the other with a word more, or means it otherwise."""
    mine, theirs = a.signed, b.signed
    if not mine or not (mine <= theirs or theirs <= mine):
        return 0.0
    extra = {name for name, _ in mine ^ theirs}
    if any(_narrows(thing) for thing in _things(a, b) if thing.name in extra) or not _agree(a, b):
        return 0.0
    return len(mine & theirs) / len(mine | theirs)


def _things(*some: Gist) -> Iterator[Thing]:
    return (thing for one in some for part in one.parts for thing in part.things)


def _narrows(thing: Thing) -> bool:
    """A name, a value, a place or a time makes it another lesson."""
    return thing.kind != "word" or thing.after in vocabulary.PLACING or thing.name in vocabulary.NARROWING


def _agree(a: Gist, b: Gist) -> bool:
    """The same things may be said in another order, but not with their places changed."""
    if {(part.wanted, part.may) for part in a.parts} != {(part.wanted, part.may) for part in b.parts}:
        return False
    if not _do_alike(*(frozenset(doing for part in one.parts for doing in part.doing) for one in (a, b))):
        return False
    mine, theirs = tuple(_things(a)), tuple(_things(b))
    if "then" in a.things and [one.name for one in mine] != [one.name for one in theirs]:
        return False
    return not _places_differ(mine, theirs) and not _reversed([one.name for one in mine], [one.name for one in theirs])


def _places_differ(mine: Sequence[Thing], theirs: Sequence[Thing]) -> bool:
    """`X in Y` and `Y in X`, `for X` and `with X`; to leave a preposition out, or use another like it, is no matter."""
    one, other = (
        {thing.name: vocabulary.PLACING[thing.after] for thing in some if thing.after in vocabulary.PLACING}
        for some in (mine, theirs)
    )
    if any(one[x] == other[y] for x in one.keys() - other.keys() for y in other.keys() - one.keys()):
        return True
    return any(
        {one[name], other[name]} not in _EXCHANGED for name in one.keys() & other.keys() if one[name] != other[name]
    )


def _reversed(mine: list[str], theirs: list[str]) -> bool:
    """Whether three things stand in the order that is the other's backwards: who does what to whom."""
    place = {name: at for at, name in reversed(list(enumerate(theirs)))}
    places = [place[name] for name in dict.fromkeys(mine) if name in place]
    longest: list[int] = []
    for at, here in enumerate(places):
        longest.append(1 + max((longest[before] for before in range(at) if places[before] > here), default=0))
    return max(longest, default=0) >= 3
