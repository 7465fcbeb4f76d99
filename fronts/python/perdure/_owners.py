"""Owners have the arrays that a job protects: functions, dicts and objects, which are asked at each checkpoint and
restore."""

from __future__ import annotations

import functools
from typing import Any, Callable, Iterator, Mapping, Optional, Set, Tuple, Union

import numpy

from . import errors

Source = Union[numpy.ndarray, Callable[[], numpy.ndarray]]
"""Either an array, or a function that gives it."""


class Registration:
    """Says how memory is registered. `calls(memory)` checks it, and gives the calls of the C library; the first one
    registers it. `fixed(memory)`: the properties that all ranks know, and that an owner alone cannot change.
    `kept(memory)`: the same memory as a job keeps it, which nobody else changes."""

    def __init__(
        self,
        calls: Callable[[Any], Iterator[Tuple[Any, ...]]],
        fixed: Callable[[Any], Any],
        kept: Callable[[Any], Any] = lambda memory: memory,
    ) -> None:
        self.calls = calls
        self.fixed = fixed
        self.kept = kept


class Items:
    """A dict whose arrays are protected."""

    def __init__(self, owner: Mapping[str, Any], prefix: str, optional: bool) -> None:
        self.owner = owner
        self.prefix = prefix
        self.optional = optional
        self.left_out: Set[str] = set()  # regions of it that were unprotected

    def name_of(self, key: Any) -> str:
        """The name of the region of an item."""
        if not isinstance(key, str):
            raise errors.refused(f"key {key!r}: the region is called as it, which has to be a text; pass keys=")
        return self.prefix + key

    def reads(self, key: str) -> Callable[[], Any]:
        return functools.partial(self.owner.__getitem__, key)


class Protected:
    """A region. `memory` is the memory that the library uses; keeping it prevents its release before it is unprotected.
    """

    def __init__(
        self,
        id: int,
        memory: Any,
        how: Registration,
        owner: Optional[Callable[[], Any]],
        items: Optional[Items],
    ) -> None:
        self.id = id
        self.memory = memory
        self.how = how
        self.owner = owner
        self.items = items
        self.lies = None if owner is None else lies_as(memory)
        self.fixed = None if owner is None else how.fixed(memory)

    def is_at(self, memory: Any) -> bool:
        """Tells whether the library would use the same elements."""
        return self.lies is not None and isinstance(memory, type(self.memory)) and lies_as(memory) == self.lies


def lies_as(memory: Any) -> Any:
    """Gives a value that is equal if the library would use the same elements: of an array, or of boxes."""
    if not isinstance(memory, numpy.ndarray):
        return [(tuple(begin), lies_as(array)) for begin, array in memory]
    return memory.__array_interface__["data"][0], memory.shape, memory.strides, memory.dtype


def read_of(owner: Callable[[], Any], text: str) -> Any:
    """Gives the owner's array. An exception of the owner is the cause of the error."""
    try:
        return owner()
    except errors.Error:
        raise
    except Exception as error:
        raise errors.refused(f"{text}: its owner does not have it: {type(error).__name__}: {error}") from error
