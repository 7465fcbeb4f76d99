"""Converts arguments on their way to the C library."""

from __future__ import annotations

import operator
import os
from typing import Any, Optional, Union

import numpy

from . import errors
from ._capi import ffi

MESSAGE_BYTES = 4096
"""A text for the library, or room for its error when an open fails."""


def c_text(text: str, what: str) -> Any:
    """Makes a const char*, which has to be kept until the call returns. C would cut it at a 0."""
    return c_bytes(text.encode(), what)


def c_path(path: Union[str, "os.PathLike[str]"]) -> Any:
    """Makes the same of a path, as the file system has it, or SCHEME://PLACE."""
    return c_bytes(os.fsencode(path), "the path")


def c_bytes(text: bytes, what: str) -> Any:
    if b"\0" in text:
        raise errors.refused(f"{what} {text!r} has a character that ends a text in C")
    return ffi.new("char[]", text)


def c_version(version: Optional[int]) -> int:
    """Gives the library's number: -1 for the newest. A number that does not fit becomes one that the library refuses.
    In a collective call it does so on all ranks."""
    if version is None:
        return -1
    number = operator.index(version)
    return number if -(2**63) <= number < 2**63 else -(2**63)


def address_of(array: numpy.ndarray) -> Any:
    """Gives the address of the first element; the caller keeps the array."""
    return ffi.cast("void*", array.__array_interface__["data"][0])


def unopened(status: int, message: Any) -> errors.Error:
    """Makes the error of a failed open. The library does not say whether it may go away; these kinds do."""
    passing = (errors.Status.UNAVAILABLE, errors.Status.BUSY, errors.Status.TIMEOUT)
    return errors.error_of(status, ffi.string(message).decode("utf-8", "replace"), status in passing)
