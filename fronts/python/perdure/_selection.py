"""Reads the brackets of region[...]: finds the box that covers them, and how to take the selection out of the box.
Pure."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, List, Sequence, Tuple, Union

from .errors import refused

Part = Union[int, slice]


@dataclass(frozen=True)
class Selection:
    """A box of an array (`begin` <= index < `end`), and the key that takes the selection out of that box."""

    begin: Tuple[int, ...]
    end: Tuple[int, ...]
    key: Tuple[Part, ...]
    has_ellipsis: bool

    @property
    def shape(self) -> Tuple[int, ...]:
        """The shape of the box."""
        return tuple(end - begin for begin, end in zip(self.begin, self.end))

    @property
    def is_box(self) -> bool:
        """True when all of the box was asked for, in its order."""
        return all(part == slice(None) for part in self.key)

    @property
    def skips(self) -> bool:
        """True when a part of the box was not asked for."""
        return any(isinstance(part, slice) and abs(part.step or 1) > 1 for part in self.key)


def select(key: Any, shape: Sequence[int]) -> Selection:
    """Reads integers, slices and an ellipsis, as in numpy. IndexError when there are too many of them or an index is
    out of the array; TypeError for anything else (lists, masks, None)."""
    parts, has_ellipsis = _complete(key, len(shape))
    begins: List[int] = []
    ends: List[int] = []
    within: List[Part] = []
    for dimension, (part, extent) in enumerate(zip(parts, shape)):
        begin, end, rest = _one(part, extent, dimension)
        begins.append(begin)
        ends.append(end)
        within.append(rest)
    return Selection(tuple(begins), tuple(ends), tuple(within), has_ellipsis)


def _complete(key: Any, dimensions: int) -> Tuple[List[Any], bool]:
    """Gives a part for each dimension."""
    parts = list(key) if isinstance(key, tuple) else [key]
    at = [number for number, part in enumerate(parts) if part is Ellipsis]
    if len(at) > 1:
        raise IndexError("an index has one ellipsis ('...') at most")
    given = len(parts) - len(at)
    if given > dimensions:
        raise IndexError(f"{given} indices for a region of {dimensions} dimensions")
    place = at[0] if at else len(parts)
    parts[place : place + len(at)] = [slice(None)] * (dimensions - given)
    return parts, bool(at)


def _one(part: Any, extent: int, dimension: int) -> Tuple[int, int, Part]:
    if isinstance(part, slice):
        chosen = range(*part.indices(extent))
        if not chosen:
            return 0, 0, slice(None)
        first, last = min(chosen[0], chosen[-1]), max(chosen[0], chosen[-1])
        step = chosen.step if len(chosen) > 1 else 1
        return first, last + 1, slice(None) if step == 1 else slice(None, None, step)
    if isinstance(part, bool) or not hasattr(part, "__index__") or getattr(part, "shape", ()) != ():
        raise TypeError(f"regions are indexed by integers, slices and '...', not by {type(part).__name__}")
    index = operator.index(part)
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of dimension {dimension}, which has {extent}")
    return index % extent, index % extent + 1, 0


def indices(numbers: Any, dimensions: int, what: str) -> Tuple[int, ...]:
    """Makes a tuple of so many numbers from 0 to 2**64 - 1; a single integer stands for a tuple of one."""
    try:
        found = tuple(operator.index(n) for n in numbers) if hasattr(numbers, "__iter__") else (operator.index(numbers),)
    except TypeError:
        raise refused(f"{what} {numbers!r} are no integers") from None
    if len(found) != dimensions:
        raise refused(f"{what} {found} are not as many as dimensions: {dimensions}")
    if any(not 0 <= number < 2**64 for number in found):
        raise refused(f"{what} {found} are not from 0 to 2**64 - 1")
    return found
