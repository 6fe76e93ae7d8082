"""What the values of an experiment's file must be, refused in one sentence where they are not."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

from lgmgc.errors import UsageError

_Fits = Callable[[object], bool]


def check(
    table: Mapping[str, object], known: Collection[str], varied: Collection[str] = ()
) -> None:
    """Refuse a table that has other names than the known ones, or values of another kind.

    Args:
        table: of a TOML file.
        known: names that it may have.
        varied: those of which a list of values is as good as one value.

    Raises:
        UsageError: it says which name, and what is needed.

    >>> check({"theta": [200, 300]}, ["theta"], varied=["theta"])
    >>> check({"theta": "wide"}, ["theta"])
    Traceback (most recent call last):
    lgmgc.errors.UsageError: theta is 'wide'; it needs a whole number from 1
    """
    one_of("the name", sorted(table), sorted(known))
    for name, value in table.items():
        needed, fits = _KINDS.get(name, _TEXT)
        several = value if name in varied and isinstance(value, list) else [value]
        if not several or not all(map(fits, several)):
            raise UsageError(f"{name} is {value!r}; it needs {needed}")


def one_of(what: str, given: Sequence[str], known: Collection[str]) -> None:
    """Refuse what is not among the known.

    Raises:
        UsageError: the first of them.

    >>> one_of("the rule", ["best"], ["folded", "rouge"])
    Traceback (most recent call last):
    lgmgc.errors.UsageError: the rule 'best' is none of folded, rouge
    """
    if wrong := [each for each in given if each not in known]:
        raise UsageError(f"{what} {wrong[0]!r} is none of {', '.join(known)}")


def _number(least: float, *kinds: type) -> _Fits:
    # A bool is an int to isinstance.
    return lambda value: type(value) in kinds and least <= value < math.inf  # type: ignore[operator]


def _each(fits: _Fits, least: int = 0) -> _Fits:
    return lambda v: isinstance(v, list) and len(v) >= least and all(map(fits, v))


_TEXT = ("text", lambda value: isinstance(value, str))
_TRUTH = ("true or false", lambda value: isinstance(value, bool))
_FROM_0 = ("a whole number from 0", _number(0, int))
_FROM_1 = ("a whole number from 1", _number(1, int))
_AMOUNT = ("a number from 0", _number(0, int, float))

_KINDS: dict[str, tuple[str, _Fits]] = {
    **dict.fromkeys(("theta", "limit", "seeds", "reader_k", "group"), _FROM_1),
    **dict.fromkeys(("overlap", "least", "target", "seed"), _FROM_0),
    **dict.fromkeys(("theta_of_gold", "strength"), _AMOUNT),
    **dict.fromkeys(("drift", "propositionizer"), _TRUTH),
    "threshold": ("a number", _number(-math.inf, int, float)),
    "measures": ("a list of texts", _each(_TEXT[1], least=1)),
    "books": ("a list of texts", _each(_TEXT[1])),
    "children": ("a list of whole numbers from 1", _each(_FROM_1[1])),
    "search": ("a list of whole numbers from 0", _each(_FROM_0[1])),
    "options": ("a table", lambda value: isinstance(value, dict)),
}
"""By name, wherever it stands; every other value is text."""
