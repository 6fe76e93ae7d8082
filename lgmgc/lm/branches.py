"""Answers that begin alike, read in one pass: what they share once, what differs as branches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple


class Step(NamedTuple):
    """One token of an option: what it is, and where the model foretells it.

    Attributes:
        branch: the branch, or −1 for the trunk.
        place: the token there that it follows; of the trunk the last.
        token: its id.
    """

    branch: int
    place: int
    token: int


class Branches(NamedTuple):
    """Options as a trunk and branches.

    Attributes:
        trunk: the tokens that all options begin with.
        branches: runs of tokens that stand behind the trunk, each by itself.
        steps: for each option, one for every token that is not of the trunk.
    """

    trunk: list[int]
    branches: list[list[int]]
    steps: list[list[Step]]


def branch_out(options: Sequence[Sequence[int]]) -> Branches:
    """Find what options share.

    Args:
        options: token ids, none of them the beginning of another, at least one.

    >>> branch_out([[5, 0, 1], [5, 0, 2], [5, 1, 0]])[:2]
    ([5], [[0], [1]])
    """
    first, last = min(map(list, options)), max(map(list, options))
    shared = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    rests = [list(option[shared:]) for option in options]
    # The last token is foretold, not read. A beginning of another branch is read with that one.
    read = sorted({tuple(rest[:-1]) for rest in rests} - {()})
    branches = [
        list(one)
        for one, after in zip_longest(read, read[1:], fillvalue=())
        if after[: len(one)] != one
    ]

    def step(rest: list[int], k: int) -> Step:
        if k == 0:
            return Step(-1, -1, rest[0])
        holder = next(n for n, branch in enumerate(branches) if branch[:k] == rest[:k])
        return Step(holder, k - 1, rest[k])

    steps = [[step(rest, k) for k in range(len(rest))] for rest in rests]
    return Branches(first[:shared], branches, steps)
