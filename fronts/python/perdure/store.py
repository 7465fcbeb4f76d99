"""Reads a store: lists its versions, and gives their regions as numpy arrays. It needs neither MPI nor the program that
wrote them. Every byte that it gives was verified."""

from __future__ import annotations

import datetime
import enum
import operator
import os
import threading
from collections import Counter
from dataclasses import dataclass
from typing import Any, Iterator, List, Optional, Sequence, Tuple, Type, Union

import numpy

from . import errors
from ._arguments import MESSAGE_BYTES, address_of, c_path, c_text, c_version, unopened
from ._capi import ffi, lib, text_of
from ._selection import indices, select
from .types import dtype_of, text_of as text_of_dtype

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_REPLACE, _UNVERIFIED = lib.PERDURE_EXPORT_REPLACE, lib.PERDURE_EXPORT_UNVERIFIED


class State(enum.IntEnum):
    """Says how much of a stored version there is, judged by its manifests; Checkpoint.verify() reads every byte."""

    COMPLETE = 0
    INCOMPLETE = 1
    DAMAGED = 2


class Kind(enum.IntEnum):
    """Says how a region belongs to the ranks."""

    LOCAL = 0
    ARRAY = 1
    LIST = 2
    REPLICATED = 3


@dataclass(frozen=True)
class StoredVersion:
    """An attempt at a version, in a store. `reason` says why it is not complete; `ranks` is the number of ranks that
    wrote it (0: unknown); `bytes` is the size of its files."""

    name: str
    version: int
    state: State
    reason: str
    ranks: int
    bytes: int
    created: datetime.datetime


class Store:
    """A store: a directory, or SCHEME://PLACE. Only its methods open anything."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.path = os.fspath(path)

    def __repr__(self) -> str:
        return f"perdure.Store({self.path!r})"

    def versions(self, name: Optional[str] = None) -> List[StoredVersion]:
        """Lists the versions in the store, of one checkpoint name or of all, by name; the oldest attempt of each comes
        first.

        NotFound: there is no such store, or nothing of that name. Permission: this user may not read some of that name.
        If all names are listed, such versions are left out.
        """
        found: List[StoredVersion] = []
        failures: List[BaseException] = []

        def visit(_context: Any, version: Any) -> int:
            found.append(_stored_version(version))
            return 0

        def failed(_kind: Any, error: BaseException, _traceback: Any) -> None:
            failures.append(error)

        # The result of an exception in the visitor, 1, ends the listing; Python gets the exception back below.
        visitor = ffi.callback("perdure_version_visitor", visit, error=1, onerror=failed)
        message = ffi.new("char[]", MESSAGE_BYTES)
        wanted = ffi.NULL if name is None else c_text(name, "the name")
        path = c_path(self.path)
        status = lib.perdure_list_versions(path, wanted, visitor, ffi.NULL, message, MESSAGE_BYTES)
        if failures:
            raise failures[0]
        if status != errors.Status.OK:
            raise unopened(status, message)
        return found

    def open(self, name: str, version: Optional[int] = None) -> "Checkpoint":
        """Opens a version for reading; None: the newest one of `name` with all its segments.

        NotFound: no such store or name. Mismatch: no such version of it. Incomplete: segments are missing. Corrupt: a
        manifest is damaged. Unsupported: it was written by a newer Perdure.
        """
        return Checkpoint(self.path, name, version)


def _stored_version(version: Any) -> StoredVersion:
    created = _EPOCH + datetime.timedelta(microseconds=version.created_ns // 1000)
    return StoredVersion(text_of(version.name), version.version, State(version.state), text_of(version.reason),
                         version.ranks, version.bytes, created)


class _Reader:
    """A reader of the C library, which a checkpoint and its regions share: it lives as long as any of them."""

    def __init__(self, path: str, name: str, version: Optional[int]) -> None:
        self._handle = ffi.NULL
        self._process = os.getpid()
        self._lock = threading.Lock()
        out, message = ffi.new("perdure_reader_t**"), ffi.new("char[]", MESSAGE_BYTES)
        texts = c_path(path), c_text(name, "the name")
        status = lib.perdure_open_reader(*texts, c_version(version), out, message, MESSAGE_BYTES)
        if status != errors.Status.OK:
            raise unopened(status, message)
        self._handle = out[0]

    def __del__(self) -> None:
        if getattr(self, "_handle", ffi.NULL) != ffi.NULL and self._process == os.getpid():
            self.close()

    def close(self) -> None:
        self._check_process()
        with self._lock:
            handle = ffi.new("perdure_reader_t**", self._handle)
            self._handle = ffi.NULL
            if handle[0] != ffi.NULL:
                lib.perdure_close_reader(handle)

    def call(self, function: Any, *arguments: Any) -> None:
        """Makes one call of the C library; reads the text of its failure before another thread can call."""
        self._check_process()
        with self._lock:
            if self._handle == ffi.NULL:
                raise errors.error_of(errors.Status.CLOSED, "the reader is closed")
            status = function(self._handle, *arguments)
            if status != errors.Status.OK:
                raise errors.error_of(status, text_of(lib.perdure_reader_error_text(self._handle)))

    def _check_process(self) -> None:
        # Checked before the lock, which another thread of the parent may have held at the time of the fork.
        if self._process != os.getpid():
            raise errors.error_of(errors.Status.WRONG_PROCESS, "reader: the process that forked this one opened it")


class Region:
    """A region of a stored version. Indexing reads from the store, with integers, slices (also backwards, or with
    steps) and `...`, as numpy has them; numpy.asarray(region) reads all of it.

    Each rank has its own local region (Kind.LOCAL), which Checkpoint.local() reads. Its `shape` is the most elements
    that a rank has. Its `dtype` is that of the lowest rank that has it; elements of unknown type are bytes.
    """

    def __init__(self, reader: _Reader, index: int, info: Any) -> None:
        self._reader = reader
        self._index = index
        self.id: int = info.id
        self.kind = Kind(info.kind)
        self.name = text_of(info.name)  #: "" when it has none
        self.type = text_of(info.type)  #: type of an element, as the library has it
        self.dtype: numpy.dtype = dtype_of(self.type)
        self.unit = text_of(info.unit)
        self.description = text_of(info.description)
        self.shape: Tuple[int, ...] = tuple(info.extents[0 : info.dimensions])
        self.ranks: int = info.ranks  #: number of ranks that stored any of it
        self.stored_bytes: int = info.bytes  #: bytes of all ranks

    def __repr__(self) -> str:
        return f"<perdure.Region {self.id} {self.name!r}: {self.kind.name.lower()} {self.type} {self.shape} {self.unit}>"

    @property
    def ndim(self) -> int:
        """The number of dimensions; 0 for a scalar."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        product = 1
        for extent in self.shape:
            product *= extent
        return product

    @property
    def nbytes(self) -> int:
        """The bytes that all of it takes in memory."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a scalar has no length")
        return self.shape[0]

    def read(self, begin: Any = None, end: Any = None, out: Optional[numpy.ndarray] = None) -> numpy.ndarray:
        """Reads the box of elements with `begin` <= index < `end` (a number for each dimension; None: from the first,
        to the last). They go straight from the store into `out`, which is returned, or into a new array.

        `out` is writable, C-contiguous, of the region's dtype and of as many elements as the box; its shape is its own.
        InvalidArgument: `out` is not, the box is not within the array, or the region is local. Corrupt: a chunk is
        damaged; the text says where. After a failure the content of `out` is undefined.
        """
        first = indices((0,) * self.ndim if begin is None else begin, self.ndim, "begin")
        last = indices(self.shape if end is None else end, self.ndim, "end")
        self._check_is_array()
        if any(b > e or e > extent for b, e, extent in zip(first, last, self.shape)):
            raise errors.refused(f"{self._text()}: the box from {first} to {last} is not within {self.shape}")
        target = _target(out, tuple(e - b for b, e in zip(first, last)), self.dtype, self._text())
        c_begin, c_end = ffi.new("uint64_t[]", first or (0,)), ffi.new("uint64_t[]", last or (0,))
        self._reader.call(lib.perdure_reader_read, self._index, c_begin, c_end, address_of(target), target.nbytes)
        return target

    def __getitem__(self, key: Any) -> Any:
        self._check_is_array()
        selection = select(key, self.shape)
        box = self.read(selection.begin, selection.end)
        if selection.is_box and (box.ndim or selection.has_ellipsis):
            return box
        chosen = box[selection.key]
        if selection.has_ellipsis and not isinstance(chosen, numpy.ndarray):
            return box.reshape(())
        # Skipped elements need not stay in memory for as long as the selected ones.
        return chosen.copy() if selection.skips else chosen

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> numpy.ndarray:
        if copy is False:
            raise ValueError("what is in a store cannot be shown without a copy")
        array = self[...]
        return array if dtype is None else array.astype(dtype, copy=False)

    def _text(self) -> str:
        return f"region {self.id} '{self.name}'" if self.name else f"region {self.id}"

    def _check_is_array(self) -> None:
        if self.kind == Kind.LOCAL:
            raise errors.refused(f"{self._text()}: each rank has its own; checkpoint.local(rank, {self.id}) reads one")


def _target(out: Optional[numpy.ndarray], shape: Tuple[int, ...], dtype: numpy.dtype, text: str) -> numpy.ndarray:
    """Gives `out` after it was checked, or a new array."""
    if out is None:
        return numpy.empty(shape, dtype)
    if not isinstance(out, numpy.ndarray):
        raise errors.refused(f"{text}: out is {type(out).__name__}, not a numpy array")
    if not out.flags.writeable:
        raise errors.refused(f"{text}: out is not writable")
    if not out.flags.c_contiguous:
        raise errors.refused(f"{text}: out is not C-contiguous, as numpy.empty() makes it")
    if not _may_hold(out.dtype, dtype):
        raise errors.refused(f"{text}: out is of {out.dtype}, the region of {dtype}")
    size = 1
    for extent in shape:
        size *= extent
    if out.size != size:
        raise errors.refused(f"{text}: out has {out.size} elements, what is read {size}")
    return out


def _may_hold(given: numpy.dtype, stored: numpy.dtype) -> bool:
    """Bytes may be read as any type of their size. Otherwise both are one type to the library, which has no shapes of
    sub-arrays."""
    if given.hasobject or given.itemsize != stored.itemsize:
        return False
    if stored.kind == "V" and not stored.names:
        return True
    try:
        return given == stored or text_of_dtype(given) == text_of_dtype(stored)
    except errors.InvalidArgument:  # the library has no such type
        return False


class Checkpoint:
    """A stored version that is open for reading: a mapping of its regions by name, or by id. close(), the end of a
    `with`, or the garbage collector closes it. Then its regions can still be looked at, and not read. Any thread may
    call."""

    def __init__(self, path: str, name: str, version: Optional[int] = None) -> None:
        self.name = name  #: name of the checkpoint
        self._reader = _Reader(path, name, version)
        number, ranks, count = ffi.new("int64_t*"), ffi.new("uint64_t*"), ffi.new("size_t*")
        self._reader.call(lib.perdure_reader_version, number, ranks)
        self._reader.call(lib.perdure_reader_region_count, count)
        self.version: int = number[0]
        self.ranks: int = ranks[0]  #: number of ranks that wrote it
        self.regions: List[Region] = [self._region(index) for index in range(count[0])]  #: ascending by id

    def __repr__(self) -> str:
        return f"<perdure.Checkpoint {self.name!r} {self.version} of {self.ranks} ranks, {len(self)} regions>"

    def __enter__(self) -> "Checkpoint":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Any, traceback: Any) -> None:
        self.close()

    def close(self) -> None:
        """Closes it; does nothing when it is closed already. WrongProcess in a child after fork()."""
        self._reader.close()

    def __len__(self) -> int:
        return len(self.regions)

    def __iter__(self) -> Iterator[Union[str, int]]:
        """The keys of the regions: names, and ids of those without one, or with one that several have."""
        names = Counter(region.name for region in self.regions if region.name)
        return iter([region.name if names[region.name] == 1 else region.id for region in self.regions])

    def __contains__(self, region: Any) -> bool:
        try:
            self[region]
        except errors.NotFound:
            return False
        return True

    def __getitem__(self, region: Union[str, int]) -> Region:
        """Finds a region by name or id. NotFound (a LookupError), listing the regions; InvalidArgument when several
        have the name."""
        index = ffi.new("size_t*")
        self._reader.call(lib.perdure_reader_find, c_text(_region_text(region), "the region"), index)
        return self.regions[index[0]]

    def local(
        self,
        rank: int,
        region: Union[str, int],
        first: int = 0,
        count: Optional[int] = None,
        out: Optional[numpy.ndarray] = None,
    ) -> numpy.ndarray:
        """Reads `count` elements (None: all) of the local region of rank `rank`, from element number `first` on. They
        go straight into `out`, or into a new array, of bytes if their type is not stored: array.view(dtype) gives it
        then.

        `out` is as for Region.read(), of any dtype whose elements have the stored size. NotFound: the rank has none.
        """
        found = self[region]
        owner = indices(rank, 1, "the rank")[0]
        begin = indices(first, 1, "first")[0]
        size = ffi.new("perdure_region_size*")
        self._reader.call(lib.perdure_reader_local_size, owner, found.id, size)
        # Ranks may have elements of other sizes than the lowest one, which the region describes.
        mere = numpy.dtype(f"V{size.element_bytes}")
        dtype = found.dtype if found.dtype.itemsize == size.element_bytes and out is None else mere
        number = max(size.count - begin, 0) if count is None else indices(count, 1, "count")[0]
        if begin + number > size.count:
            raise errors.refused(f"{found._text()} of rank {owner}: elements {begin} to {begin + number} of {size.count}")
        target = _target(out, (number,), dtype, f"{found._text()} of rank {owner}")
        where = (owner, found.id, begin, number)
        self._reader.call(lib.perdure_reader_read_local, *where, address_of(target), target.nbytes)
        return target

    def verify(self) -> None:
        """Reads and verifies every byte of the version. Corrupt: the text has the first defect, and the number of
        defects."""
        self._reader.call(lib.perdure_reader_verify)

    def export(
        self,
        path: Union[str, "os.PathLike[str]"],
        regions: Optional[Sequence[Union[str, int]]] = None,
        replace: bool = False,
        verify: bool = True,
    ) -> None:
        """Writes regions (None: all) as PATH.h5 (HDF5) or PATH.zarr (Zarr 3): whole, or not at all. `verify` reads the
        written data back and compares it.

        InvalidArgument: another ending, or no regions. Exists: a file is there, and `replace` is not set. NotFound: no
        such region. Unsupported: this machine has no HDF5 library. Corrupt: a chunk is damaged.
        """
        if regions is not None and (isinstance(regions, str) or len(regions) == 0):
            raise errors.refused(f"regions {regions!r}: give a list of names or ids, or None for all")
        texts = [c_text(_region_text(region), "the region") for region in regions or ()]
        names = ffi.new("char*[]", texts) if texts else ffi.NULL
        options = (_REPLACE if replace else 0) + (0 if verify else _UNVERIFIED)
        self._reader.call(lib.perdure_reader_export, c_path(path), names, len(texts), options)

    def _region(self, index: int) -> Region:
        info = ffi.new("perdure_region_info*")
        self._reader.call(lib.perdure_reader_region, index, info)
        return Region(self._reader, index, info[0])


def _region_text(region: Union[str, int]) -> str:
    if isinstance(region, str):
        return region
    if isinstance(region, bool):
        raise _refused_region(region)
    try:
        return str(operator.index(region))
    except TypeError:
        raise _refused_region(region) from None


def _refused_region(region: Any) -> errors.InvalidArgument:
    """Refuses a key that is neither a name nor an id."""
    return errors.refused(f"region {region!r}: it is found by its name or its id")
