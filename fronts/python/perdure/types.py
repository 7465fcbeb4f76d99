"""Converts types of elements: numpy's dtypes, and the library's texts for them ("f8", "{position:3f8,id:i4,v4}").

    type   := scalar | "{" member ("," member)* "}"
    scalar := i1 i2 i4 i8 | u1 u2 u4 u8 | f4 f8 | c8 c16 | b1 | v<N>
    member := name ":" [count] scalar | v<N>

A member without a name is room between others. A dtype made from such a text has the same bytes in memory as the C
structure: room is kept by offsets and itemsize. A sub-array of several dimensions becomes a text of one, because the
library counts elements only.
"""

from __future__ import annotations

import functools
import re
from typing import Any, List, Tuple

import numpy

from .errors import refused

_SCALAR = re.compile(r"([iu](?:1|2|4|8)|f[48]|c(?:8|16)|b1|v[1-9][0-9]*)\Z")
_MEMBER = re.compile(r"(?:([A-Za-z_][A-Za-z0-9_]*):([1-9][0-9]*)?)?([a-z][1-9][0-9]*)\Z")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z")


@functools.lru_cache(maxsize=256)  # a version may have many regions, of few types
def dtype_of(text: str) -> numpy.dtype:
    """Gives the dtype of a text. InvalidArgument when it is no type that the library has."""
    if text.startswith("{") and text.endswith("}"):
        return _compound(text)
    return _scalar(text, text)


def _scalar(scalar: str, text: str) -> numpy.dtype:
    if not _SCALAR.match(scalar):
        raise refused(f"type '{text}': '{scalar}' is no type of an element")
    return numpy.dtype("?" if scalar == "b1" else scalar.replace("v", "V"))


def _compound(text: str) -> numpy.dtype:
    names: List[str] = []
    formats: List[Any] = []
    offsets: List[int] = []
    offset = 0
    for member in text[1:-1].split(","):
        parts = _MEMBER.match(member)
        if not parts or (parts.group(1) is None and not member.startswith("v")):
            raise refused(f"type '{text}': '{member}' is no member")
        name, count, scalar = parts.group(1), int(parts.group(2) or 1), _scalar(parts.group(3), text)
        if name is not None:
            names.append(name)
            formats.append(scalar if count == 1 else (scalar, (count,)))
            offsets.append(offset)
        offset += count * scalar.itemsize
    if not names:  # room only
        return numpy.dtype(f"V{offset}")
    return numpy.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": offset})


def text_of(dtype: Any) -> str:
    """Gives the text of a dtype. InvalidArgument says why the library has no type for it. It has none for objects,
    texts, times, the other byte order, half and long reals, structures within structures, and members that overlap."""
    given = numpy.dtype(dtype)
    return "{" + ",".join(_members(given)) + "}" if given.names else _scalar_text(given, given)


def _members(whole: numpy.dtype) -> List[str]:
    fields: List[Tuple[int, str, numpy.dtype]] = sorted(
        (field[1], name, field[0]) for name, field in whole.fields.items() if name in whole.names
    )
    members = []
    end = 0
    for offset, name, field in fields:
        if offset < end:
            raise refused(f"dtype {whole}: member '{name}' overlaps the one before it")
        if not _NAME.match(name):
            raise refused(f"dtype {whole}: '{name}' is no name of a member; use letters, digits and _, at most 64")
        if offset > end:
            members.append(f"v{offset - end}")
        base, shape = field.subdtype or (field, ())
        if base.names:
            raise refused(f"dtype {whole}: member '{name}' is a structure; the library has no structures within others")
        count = 1
        for extent in shape:
            count *= extent
        if count == 0:
            raise refused(f"dtype {whole}: member '{name}' has no elements")
        members.append(f"{name}:{'' if count == 1 else count}{_scalar_text(base, whole)}")
        end = offset + field.itemsize
    if whole.itemsize > end:
        members.append(f"v{whole.itemsize - end}")
    return members


def _scalar_text(dtype: numpy.dtype, whole: numpy.dtype) -> str:
    if dtype.hasobject:
        raise refused(f"dtype {whole}: objects are addresses, which mean nothing after a restart")
    if not dtype.isnative:
        raise refused(
            f"dtype {whole}: {dtype} is of the other byte order; convert it: array.astype(dtype.newbyteorder('='))"
        )
    text = "b1" if dtype.kind == "b" else f"{dtype.kind.lower()}{dtype.itemsize}"
    if dtype.kind not in "biufcV" or not _SCALAR.match(text):
        raise refused(
            f"dtype {whole}: there is no type of an element for {dtype}; show it as one of integers, reals, or bytes:"
            f" array.view('V{dtype.itemsize}')"
        )
    return text
