"""Checks the arrays that a job protects, and describes them to the C library as in perdure.h."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy

from . import errors
from ._arguments import c_text
from ._capi import ffi
from ._selection import indices
from .types import text_of

_MOST_DIMENSIONS = 8


def check_memory(array: Any, text: str, dense: bool) -> None:
    """Raises InvalidArgument if a restore cannot fill `array`: it is not a numpy array, not writable, or has objects in
    it. With `dense`, it must also be in C's order without gaps."""
    if not isinstance(array, numpy.ndarray):
        raise errors.refused(f"{text}: it is {type(array).__name__}, not a numpy array, whose memory stays where it is")
    if isinstance(array, numpy.ma.MaskedArray):
        raise errors.refused(f"{text}: it is a masked array; protect its data and its mask, which are two arrays")
    if not array.flags.writeable:
        raise errors.refused(f"{text}: it is not writable, and a restore has to fill it")
    if array.dtype.hasobject:
        raise errors.refused(f"{text}: its elements are objects: addresses, which mean nothing after a restart")
    if any(stride == 0 and extent > 1 for stride, extent in zip(array.strides, array.shape)) and array.size:
        raise errors.refused(f"{text}: it shows one element in several places, by a stride of 0")
    if dense and not array.flags.c_contiguous:
        raise errors.refused(f"{text}: it is not C-contiguous; numpy.ascontiguousarray() makes an array that is")


class Declaration:
    """An array as a whole: `native` is the perdure_array, valid as long as this lives."""

    def __init__(
        self,
        text: str,
        name: str,
        dtype: Any,
        shape: Any,
        ghosts: Any = None,
        fill_ghosts: bool = False,
        unit: str = "",
        description: str = "",
    ) -> None:
        dimensions = len(shape) if hasattr(shape, "__len__") else 1
        if dimensions > _MOST_DIMENSIONS:
            raise errors.refused(f"{text}: it has {dimensions} dimensions; an array has {_MOST_DIMENSIONS} at most")
        self.text = text
        self.shape = indices(shape, dimensions, f"{text}: the extents")
        widths = (0,) * dimensions if ghosts is None else ghosts
        if hasattr(widths, "__index__"):
            widths = (widths,) * dimensions
        self.ghosts = indices(widths, dimensions, f"{text}: the ghosts")
        if any(width >= 2**62 for width in self.ghosts):
            raise errors.refused(f"{text}: the ghosts {self.ghosts} are wider than any memory")
        self._kept = [
            c_text(name, "the name"),
            c_text(text_of(dtype), "the type"),
            ffi.new("uint64_t[]", self.shape or (0,)),
            ffi.new("uint64_t[]", self.ghosts or (0,)),
            c_text(unit, "the unit"),
            c_text(description, "the description"),
        ]
        c_name, c_type, c_shape, c_ghosts, c_unit, c_description = self._kept
        c_ghosts = c_ghosts if any(self.ghosts) else ffi.NULL
        fields = (c_name, c_type, dimensions, c_shape, c_ghosts, int(fill_ghosts), c_unit, c_description)
        self.native = ffi.new("perdure_array*", fields)


class Boxes:
    """Parts of an array in checked memory, each an array with the ghosts around it, in any layout. `native` are
    perdure_box, `count` of them, valid as long as this lives. Parts without elements are left out, as the library
    wants it."""

    def __init__(self, declared: Declaration, boxes: Sequence[Tuple[Any, numpy.ndarray]]) -> None:
        self._kept: List[Any] = []
        fields = [field for begin, array in boxes for field in self._box(declared, begin, array)]
        self.count = len(fields)
        self.native = ffi.new("perdure_box[]", fields) if fields else ffi.NULL

    def _box(self, declared: Declaration, begin: Any, array: numpy.ndarray) -> List[Tuple[Any, ...]]:
        dimensions = len(declared.shape)
        if array.ndim != dimensions:
            raise errors.refused(f"{declared.text}: an array of shape {array.shape} is no part of one of {declared.shape}")
        first = indices(begin, dimensions, f"{declared.text}: the beginning of a box")
        own = tuple(extent - 2 * width for extent, width in zip(array.shape, declared.ghosts))
        if any(extent < 0 for extent in own):
            raise errors.refused(f"{declared.text}: shape {array.shape} has no room for ghosts of {declared.ghosts}")
        end = indices([b + e for b, e in zip(first, own)], dimensions, f"{declared.text}: the end of a box")
        if any(e > extent for e, extent in zip(end, declared.shape)):
            raise errors.refused(f"{declared.text}: the box from {first} to {end} is not within {declared.shape}")
        if 0 in own:
            return []
        numbers = [ffi.new(f"{kind}[]", values or (0,)) for kind, values in
                   (("uint64_t", first), ("uint64_t", end), ("int64_t", array.strides))]
        self._kept.append(numbers)
        address = ffi.cast("void*", first_element(array, declared.ghosts))
        return [(address, *numbers)]


def first_element(array: numpy.ndarray, ghosts: Sequence[int]) -> int:
    """The address of the first element behind the ghosts."""
    address: int = array.__array_interface__["data"][0]
    return address + sum(width * stride for width, stride in zip(ghosts, array.strides))


def common_dtype(boxes: Sequence[Tuple[Any, Any]], dtype: Any, text: str) -> numpy.dtype:
    """The dtype of all boxes, or `dtype` if there are none."""
    found = None if dtype is None else numpy.dtype(dtype)
    for _, array in boxes:
        of_box: Optional[numpy.dtype] = getattr(array, "dtype", None)
        if found is not None and of_box is not None and of_box != found:
            raise errors.refused(f"{text}: a box is of {of_box}, and not of {found}")
        found = of_box if found is None else found
    if found is None:
        raise errors.refused(f"{text}: it has no boxes here; pass dtype=, which is the same on all ranks")
    return found
