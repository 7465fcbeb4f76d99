"""Writes checkpoints: a job protects numpy arrays, checkpoints them, and restores them, on any number of ranks.

Every rank of the job makes the calls marked [collective], in the same order; calls marked [local] never communicate.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import hashlib
import operator
import os
import sys
import threading
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, Union

import numpy

from . import _goodbye, errors
from ._arguments import MESSAGE_BYTES, address_of, c_bytes, c_text, c_version, unopened
from ._arrays import Boxes, Declaration, check_memory, common_dtype, first_element
from ._capi import ffi, lib, text_of
from ._owners import Items, Protected, Registration, Source, lies_as, read_of
from ._selection import indices
from .communicator import Group
from .types import dtype_of, text_of as element_text

_REPORT_BYTES = 4096
_MOST_DIMENSIONS = 8
_PATIENCE_S = 3  # at the end, for another thread that is within a call
_CUT_TYPE = 1023  # characters that perdure_array_info has room for


class Level(enum.IntEnum):
    """How much a checkpoint survives by now; each level includes those before it."""

    NONE = 0
    PROCESS = 1
    NODE = 2
    STORE = 3


class Due(enum.IntFlag):
    """Why a checkpoint is due."""

    SIGNAL = 1  # a signal asks for it
    HALT = 2  # `perdure halt` does
    END = 128  # the program is to end after it


@dataclass(frozen=True)
class Progress:
    """The background work of this rank's node, and the history of this job. `restored_version` is -1 before a restore;
    `restore_source`: 0 nowhere, 1 tier, 2 store, 3 both; +4: other nodes copied it into the tier."""

    bytes_pending: int
    bytes_flushed: int
    versions_pending: int
    versions_failed: int
    flush_bytes_per_s: float
    last_blocking_s: float
    last_flush_s: float
    last_restore_s: float
    last_bytes: int
    restored_version: int
    restore_source: int


@dataclass(frozen=True)
class PassedOver:
    """A version that is newer than the one that a restore took. `created_ns`: when its checkpoint was begun, since
    1970."""

    version: int
    created_ns: int
    why: str


@dataclass(frozen=True)
class Restored:
    """Describes the version that a restore took. `age_s`: seconds since its checkpoint was begun. `source`: as
    Progress.restore_source. `passed_over`: the newer versions that were not taken, the same on all ranks."""

    name: str
    version: int
    branch: str
    created_ns: int
    age_s: float
    source: int
    passed_over: Tuple[PassedOver, ...]


@dataclass(frozen=True)
class StoredArray:
    """An array in a stored checkpoint. `type` is cut at 1023 characters; then `dtype` is of bytes."""

    name: str
    unit: str
    type: str
    dtype: numpy.dtype
    shape: Tuple[int, ...]


class Job:
    """An open Perdure, for this process alone (`comm` None) or for the ranks of a communicator. [collective] The
    communicator is one of mpi4py, or an object with its methods (see perdure.communicator).

    `options`: a mapping, as in {"store.path": "/scratch/me/store"}, or a text as perdure_open() has it; the same on all
    ranks. Values are texts, numbers, paths, truth values, or lists of them.

    Arrays are protected under names, by which a restore finds them again. Each has an id, too, which is made from the
    name (the same everywhere), or given as `id=`. A job keeps the arrays that it protects alive, until unprotect() or
    close(). They must not be resized or have their memory replaced meanwhile (array.resize(), array.data = ...). Assign
    to their elements (array[...] = new); `array = new` leaves the old one protected.

    Instead of an array, its owner can be protected: a function that gives it (protect("w", lambda: model.w)), a dict
    (protect_items()), attributes of an object (protect_attributes()). Each checkpoint and restore reads them. So the
    arrays may be others by then, and have another size if they are memory of one rank or rows of a list.

    close(), the end of a `with`, or the garbage collector closes the job, which is [collective], too. A job that is
    open when Python ends, or at MPI.Finalize(), is closed then, and stored. If an exception ends Python, or the ranks
    are not MPI's, each node stores its own data, and no rank waits for another. Any thread may call; one call at a time
    runs on a job.
    """

    _left_to_library = False  # the library ends the handle when the process ends

    def __init__(self, comm: Any = None, options: Union[None, str, Mapping[str, Any]] = None) -> None:
        self._handle = ffi.NULL
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._calling = False
        self._protected: Dict[str, Protected] = {}
        self._items: List[Items] = []  # dicts of which all items are protected
        self._names: Dict[int, str] = {}  # names of the protected regions, by id
        self._group: Optional[Group] = None
        text = ffi.NULL if options is None else c_text(_options_text(options), "the options")
        self._group = None if comm is None else Group(comm)
        try:
            self._handle = self._open(text)
        except BaseException:
            self._release_group()
            raise
        self._number = _goodbye.opened(self)
        if self._group is not None:
            self._group.before_finalize(_goodbye.before_finalize)

    def _open(self, options: Any) -> Any:
        out, message = ffi.new("perdure_t**"), ffi.new("char[]", MESSAGE_BYTES)
        rest = (options, out, message, MESSAGE_BYTES)
        if self._group is None:
            status = lib.perdure_open(*rest)
        else:
            status = lib.perdure_open_communicator(self._group.native, *rest)
        failure = self._group.take_failure() if self._group else None
        if status != errors.Status.OK:
            raise unopened(status, message) from failure
        return out[0]

    def __repr__(self) -> str:
        state = "closed" if self._handle == ffi.NULL else f"{len(self._protected)} arrays"
        return f"<perdure.Job rank {self.rank} of {self.size}, {state}>"

    def __enter__(self) -> "Job":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Any, traceback: Any) -> None:
        if error is None:
            self.close()
            return
        try:
            self.close()
        except errors.Error as failure:  # the exception that ends the block is the reason, and must not be hidden by
                                         # its consequence
            warnings.warn(f"closing the job failed, too: {failure}", RuntimeWarning, stacklevel=2)

    def __del__(self) -> None:
        if getattr(self, "_handle", ffi.NULL) == ffi.NULL or self._process != os.getpid() or self._left_to_library:
            return
        warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self)
        # The other ranks may be gone when Python ends: waiting for them could last for ever.
        if self._group is None or not sys.is_finalizing():
            self.close()

    @property
    def rank(self) -> int:
        """The rank of this process; 0 when it is alone."""
        return self._group.native.rank if self._group else 0

    @property
    def size(self) -> int:
        """The number of ranks."""
        return self._group.native.size if self._group else 1

    # Protected arrays

    def protect(
        self,
        name: str,
        array: Source,
        *,
        id: Optional[int] = None,
        unit: str = "",
        description: str = "",
        optional: bool = False,
    ) -> None:
        """Registers memory of this rank alone, C- or Fortran-contiguous, writable. [local] It comes back on the same
        rank of as many ranks as there were, or by restore_part(). Its dtype and shape are stored, and compared by a
        restore. For a dtype that the library has no type for (half reals, texts, times), only its size is.

        `array`, here and in the methods below: an array, or a function without arguments that gives it. The function is
        called now and at each checkpoint and restore. By then it may give another array, here also of another size,
        shape and type. It must not call the job. If it fails, that call fails on all ranks.

        `optional`, here and in the methods below: a restore may find that it is not stored. It stays as it is then, and
        was_restored() says so.

        `name` has 1 to 64 of the characters A-Z a-z 0-9 . _ - and begins with a letter. Protecting a name again
        replaces its array, here and in the methods below. InvalidArgument says why an array cannot be protected.
        """
        with self._exclusive():
            number = self._id_for(name, id)
            self._register(name, number, array, optional, self._local(name, number, unit, description))

    def protect_items(
        self,
        owner: Mapping[str, Any],
        keys: Optional[Iterable[str]] = None,
        *,
        prefix: str = "",
        optional: bool = False,
    ) -> None:
        """Registers the arrays of a dict, each under `prefix` and its key, as protect() does; owner["w"] = new replaces
        one. [local] `keys`: these alone, which have to be there at each checkpoint and restore. None: all keys at
        that time; new keys are protected, and removed ones are not any more. All or none are registered:
        InvalidArgument says which of them cannot be protected. unprotect() leaves one out."""
        with self._exclusive():
            items = Items(owner, prefix, optional)
            wanted = [(items.name_of(key), items.reads(key)) for key in (owner if keys is None else keys)]
            self._all_or_none(wanted, optional, items if keys is None else None)
            if keys is None:
                self._items.append(items)

    def protect_attributes(
        self, owner: Any, names: Iterable[str], *, prefix: str = "", optional: bool = False
    ) -> None:
        """Registers arrays that are attributes of an object, each under `prefix` and its name, as protect() does.
        [local] owner.w = new replaces one. Registers all or none, as protect_items()."""
        with self._exclusive():
            attributes = [(prefix + name, functools.partial(getattr, owner, name)) for name in names]
            self._all_or_none(attributes, optional, None)

    def protect_block(
        self,
        name: str,
        array: Source,
        shape: Sequence[int],
        *,
        ghosts: Union[None, int, Sequence[int]] = None,
        grid: Optional[Sequence[int]] = None,
        fill_ghosts: bool = False,
        unit: str = "",
        description: str = "",
        id: Optional[int] = None,
        optional: bool = False,
    ) -> None:
        """Registers this rank's block of an array of `shape` that is divided evenly, as block() says. [local] Every
        rank does so, also one whose block is empty; it comes back on any number of ranks.

        `array` is the block with `ghosts` elements of others around it, on both sides of each dimension, in any layout
        (strides and Fortran's order, too). Ghosts are not stored; `fill_ghosts` lets a restore fill them. `grid`: ranks
        in each dimension, whose product is their number; None: the most even.
        """
        with self._exclusive():
            number = self._id_for(name, id)
            text = _region_text(number, name)

            def calls(array: Any) -> Iterator[Tuple[Any, ...]]:
                check_memory(array, text, dense=False)
                declared = Declaration(text, name, array.dtype, shape, ghosts, fill_ghosts, unit, description)
                mine = self._block(declared, grid)
                wanted = tuple(part.stop - part.start + 2 * width for part, width in zip(mine, declared.ghosts))
                if array.shape != wanted:
                    raise errors.refused(
                        f"{text}: it is of shape {array.shape}, this rank's block with ghosts of {wanted}"
                    )
                boxes = Boxes(declared, [([part.start for part in mine], array)])
                if array.flags.c_contiguous:
                    address = ffi.cast("void*", first_element(array, declared.ghosts))
                    yield lib.perdure_protect_block, number, declared.native, _grid(grid, declared), address
                else:
                    yield lib.perdure_protect_global, number, declared.native, boxes.native, boxes.count

            self._register(name, number, array, optional, Registration(calls, lambda array: (array.dtype, array.shape)))

    def protect_global(
        self,
        name: str,
        shape: Sequence[int],
        boxes: Union[
            Sequence[Tuple[Sequence[int], numpy.ndarray]], Callable[[], Sequence[Tuple[Sequence[int], numpy.ndarray]]]
        ] = (),
        *,
        ghosts: Union[None, int, Sequence[int]] = None,
        fill_ghosts: bool = False,
        dtype: Any = None,
        unit: str = "",
        description: str = "",
        id: Optional[int] = None,
        optional: bool = False,
    ) -> None:
        """Registers parts of an array of `shape`, each as (index of its first element, array), in any layout, or a
        function that gives them. [local] Every rank does so; one that has no part passes no boxes, and `dtype`. Each
        element has an owner, or several with the same value, which checkpoints check (Mismatch).

        With `ghosts`, each array has so many elements of others around it, on both sides of each dimension. The index
        is that of the first element behind them.
        """
        with self._exclusive():
            number = self._id_for(name, id)
            text = _region_text(number, name)

            def calls(boxes: Any) -> Iterator[Tuple[Any, ...]]:
                parts = list(boxes)
                for _, array in parts:
                    check_memory(array, text, dense=False)
                element = common_dtype(parts, dtype, text)
                declared = Declaration(text, name, element, shape, ghosts, fill_ghosts, unit, description)
                made = Boxes(declared, parts)
                yield lib.perdure_protect_global, number, declared.native, made.native, made.count

            def fixed(boxes: Any) -> Any:
                return [(tuple(begin), array.dtype, array.shape) for begin, array in boxes]

            self._register(name, number, boxes, optional, Registration(calls, fixed, list))

    def protect_list(
        self,
        name: str,
        array: Source,
        *,
        unit: str = "",
        description: str = "",
        id: Optional[int] = None,
        optional: bool = False,
    ) -> None:
        """Registers this rank's rows of a list: particles, rows of a sparse matrix. [local] `array` is C-contiguous;
        its first dimension counts the rows. Each rank may have another number of rows at every checkpoint; the list
        has them in the order of the ranks. Before a restore, stored_array() says how many there are: together, ranks
        register all."""
        with self._exclusive():
            number = self._id_for(name, id)
            text = _region_text(number, name)

            def calls(array: Any) -> Iterator[Tuple[Any, ...]]:
                check_memory(array, text, dense=True)
                if array.ndim == 0:
                    raise errors.refused(f"{text}: a list has at least one dimension")
                declared = Declaration(text, name, array.dtype, array.shape, unit=unit, description=description)
                yield lib.perdure_protect_list, number, declared.native, address_of(array), array.shape[0]

            self._register(
                name, number, array, optional, Registration(calls, lambda array: (array.dtype, array.shape[1:]))
            )

    def protect_replicated(
        self,
        name: str,
        array: Source,
        *,
        unit: str = "",
        description: str = "",
        id: Optional[int] = None,
        optional: bool = False,
    ) -> None:
        """Registers an array that is equal on all ranks, C-contiguous: the step (numpy.zeros((), int)), parameters.
        [local] It is stored once. Every checkpoint compares all its bytes, also those between members of a structure
        (Mismatch names two ranks)."""
        with self._exclusive():
            number = self._id_for(name, id)
            text = _region_text(number, name)

            def calls(array: Any) -> Iterator[Tuple[Any, ...]]:
                check_memory(array, text, dense=True)
                declared = Declaration(text, name, array.dtype, array.shape, unit=unit, description=description)
                yield lib.perdure_protect_replicated, number, declared.native, address_of(array)

            self._register(name, number, array, optional, Registration(calls, lambda array: (array.dtype, array.shape)))

    def unprotect(self, name: str) -> None:
        """Forgets an array, whose memory may then be freed. [local] NotFound when it is not protected."""
        with self._exclusive():
            if name not in self._protected:
                raise self._not_protected([name])
            items = self._protected[name].items
            self._forget(name)
            if items is not None:
                items.left_out.add(name)

    def block(self, shape: Sequence[int], grid: Optional[Sequence[int]] = None) -> Tuple[slice, ...]:
        """Gives this rank's block of an array that is divided evenly: whole[job.block(whole.shape)]. [local] It may be
        empty. `grid`: ranks in each dimension, whose product is their number; None: the most even."""
        return self._block(Declaration("block", "", "u1", shape), grid)

    # Changes since checkpoints were stored

    def renamed(self, before: str, now: str) -> None:
        """Declares that the stored region called `before` is the protected one called `now`. [local] For a region
        without a name, `before` is its number as a text. The declaration may stay in the program: it does not
        concern checkpoints that have the new name."""
        self._call(lib.perdure_renamed, c_text(before, "the name"), c_text(now, "the name"))

    def pass_over(self, *regions: str) -> None:
        """Declares that the program no longer needs these stored regions: not protecting them is no mismatch. [local]
        "*" means all regions that it does not protect."""
        for region in regions:
            self._call(lib.perdure_pass_over, c_text(region, "the name"))

    def was_restored(self, name: str) -> bool:
        """Tells whether the last successful restore filled an array; False if it was absent, or not asked for. [local]
        NotFound when it is not protected."""
        restored = ffi.new("int*")
        with self._exclusive():
            if name not in self._protected:
                raise self._not_protected([name])
            self._call(lib.perdure_was_restored, self._protected[name].id, restored)
        return bool(restored[0])

    # Checkpoints

    def checkpoint(self, name: str, version: int) -> None:
        """Captures all protected arrays of all ranks as `name`, `version` (not negative); they may change as soon as it
        returns. [collective] When one rank fails, all get an error, and nothing of this version remains."""
        where = (_checkpoint_name(name), c_version(version))
        self._call_on_arrays(lambda: (lib.perdure_checkpoint, *where))

    def restore(
        self, name: str, version: Optional[int] = None, regions: Optional[Sequence[Union[str, int]]] = None
    ) -> int:
        """Fills the protected arrays (or only `regions`, by name or id) from a checkpoint, and gives the version that
        was taken. [collective] None: the newest version that every rank can restore. Every byte is verified.

        NotFound: nothing exists under this name: a first start. Mismatch, on all ranks: there is no such version, and
        the text lists the existing ones. Or the protected arrays differ from the stored ones, and the text names all
        differences. Arrays are missing, left over, or of another size, type or shape. Names say which arrays belong
        together. After these errors nothing was touched; after other failures the content of the arrays is undefined.
        Corrupt: nothing whole is left. Incomplete: there are parts only.
        """
        with self._exclusive():
            where = (_checkpoint_name(name), c_version(version))
            unknown: List[Union[str, int]] = []

            def call() -> Tuple[Any, ...]:
                if regions is None:
                    return lib.perdure_restore, *where
                ids = [self._id_of(region) for region in regions]
                unknown.extend(region for region, number in zip(regions, ids) if number not in self._names)
                return lib.perdure_restore_regions, *where, ffi.new("int[]", ids or (0,)), len(ids)

            try:
                self._call_on_arrays(call)
            except errors.Error as error:
                if unknown:  # the library refuses it on all ranks: none is left waiting for this one
                    raise self._not_protected(unknown, errors.Status.MISMATCH) from error
                raise
            return self._progress()[1].restored_version

    def restore_branch(self, name: str, branch: str, version: Optional[int] = None) -> int:
        """Restores from branch `branch` and the line it went on from, whichever branch is the current one. [collective]
        `branch` is written as in `perdure ls` ("3f9a12"). The next checkpoint goes on from there."""
        with self._exclusive():
            text = branch.encode("utf-8", "replace") if isinstance(branch, str) else b""
            where = (_checkpoint_name(name), text, c_version(version))
            self._call_on_arrays(lambda: (lib.perdure_restore_branch, *where))
            return self._progress()[1].restored_version

    @property
    def restored(self) -> Optional[Restored]:
        """Describes the version that the last restore of this job took, and those that it passed over; None: there was
        none. [local]"""
        info = ffi.new("perdure_restored_info*")
        try:
            self._call(lib.perdure_restored, info)
        except errors.NotFound:
            return None
        passed = []
        for which in range(info.passed_over):
            one = ffi.new("perdure_passed_over_info*")
            self._call(lib.perdure_passed_over, which, one)
            passed.append(PassedOver(one.version, one.created_ns, text_of(one.why)))
        return Restored(
            text_of(info.name), info.version, text_of(info.branch), info.created_ns, info.age_s, info.source, tuple(passed)
        )

    def restore_part(
        self, name: str, rank: int, region: Union[str, int], array: numpy.ndarray, version: Optional[int] = None
    ) -> None:
        """Fills `array` with the array that rank `rank` of the writers had protected by protect(), however many writers
        there were. [collective] Every rank may name another rank and region; a rank that needs nothing asks for some
        array into memory that it does not use. The array need not be protected. Mismatch: there is no such rank or
        region, or it is of another size."""
        with self._exclusive():
            refusal: Optional[errors.Error] = None
            part: Tuple[Any, ...] = (-1, 0, ffi.NULL, 1, 1)  # no such rank: refused on all of them
            try:
                check_memory(array, f"region {region!r}", dense=False)
                if not array.flags.forc:
                    raise errors.refused(f"region {region!r}: it has gaps: neither C- nor Fortran-contiguous")
                number = rank if 0 <= operator.index(rank) < 2**31 else -1
                part = (number, self._id_of(region), address_of(array), array.itemsize, array.size)
            except errors.Error as error:
                refusal = error
            try:
                self._call(lib.perdure_restore_part, _checkpoint_name(name), c_version(version), *part)
            except errors.Error as error:
                raise (refusal or error) from error.__cause__

    def latest(self, name: str) -> Optional[int]:
        """Gives the newest version of `name` that every rank can restore; None: nothing of it exists. [collective] If
        nothing is protected yet, any number of ranks may have written arrays; memory of one rank needs as many."""
        version = ffi.new("int64_t*")
        try:
            self._call(lib.perdure_latest, _checkpoint_name(name), version)
        except errors.NotFound:
            return None
        return int(version[0])

    def stored_array(self, name: str, region: Union[str, int], version: Optional[int] = None) -> StoredArray:
        """Describes an array in a stored checkpoint of any number of ranks, before restoring it. [collective] NotFound:
        nothing exists under that name. Mismatch: there is no such version, or it has no such array."""
        info = ffi.new("perdure_array_info*")
        where = (_checkpoint_name(name), c_version(version), self._id_of(region))
        self._call(lib.perdure_stored_array, *where, info)
        text = text_of(info.type)
        dtype = dtype_of(text) if len(text) < _CUT_TYPE else numpy.dtype(f"V{info.element_bytes}")
        shape = tuple(info.extents[0 : info.dimensions])
        return StoredArray(text_of(info.name), text_of(info.unit), text, dtype, shape)

    def stored_size(self, name: str, region: Union[str, int], version: Optional[int] = None) -> Tuple[int, int]:
        """Gives (bytes of an element, elements) of this rank's region in a stored checkpoint. [collective] NotFound:
        nothing exists under that name. Mismatch: there is no such version, or it has no such region."""
        size = ffi.new("perdure_region_size*")
        where = (_checkpoint_name(name), c_version(version), self._id_of(region))
        self._call(lib.perdure_stored_size, *where, size)
        return size.element_bytes, size.count

    def wait(self, name: str, version: int, level: Level = Level.STORE, timeout: Optional[float] = None) -> None:
        """Waits until the checkpoint has reached `level` on all ranks. [collective] `timeout` in seconds; None: as long
        as it takes. Timeout: they have passed. If the flush was abandoned, raises its error."""
        what = (_checkpoint_name(name), c_version(version))
        if timeout is not None and not timeout >= 0:  # not a number, too: the library would wait for ever
            with contextlib.suppress(errors.InvalidArgument):
                self._call(lib.perdure_wait, *what, 0, 0.0)  # no such level: refused on all ranks, so that none waits
            raise errors.refused(f"timeout {timeout}: it is no time in seconds; None is as long as it takes")
        number = operator.index(level) if 0 <= operator.index(level) < 2**31 else 0
        self._call(lib.perdure_wait, *what, number, -1.0 if timeout is None else float(timeout))

    def level_reached(self, name: str, version: int) -> Level:
        """Gives the level that the checkpoint has reached, as far as this rank's node knows. [local]"""
        level = ffi.new("perdure_level*")
        self._call(lib.perdure_level_reached, _checkpoint_name(name), c_version(version), level)
        return Level(level[0])

    def retire(self, name: str, version: int) -> None:
        """Retires a version on purpose, on tiers and store. [collective]"""
        self._call(lib.perdure_retire, _checkpoint_name(name), c_version(version))

    def any(self, here: bool) -> bool:
        """Tells whether `here` is true on any rank. [collective]"""
        found = ffi.new("int*")
        self._call(lib.perdure_any, int(here), found)
        return bool(found[0])

    def due(self) -> Due:
        """Says why a checkpoint is due, the same on all ranks; falsy if none is. [collective] `signals` = "checkpoint"
        has signals ask for one. Python takes SIGINT itself: a KeyboardInterrupt comes as well."""
        reasons = ffi.new("unsigned*")
        self._call(lib.perdure_due, reasons)
        return Due(reasons[0])

    @property
    def progress(self) -> Progress:
        """Tells about the background work. [local] Unavailable if the engine does not answer."""
        failure, progress = self._progress()
        if failure is not None:
            raise failure
        return progress

    def reports(self) -> Iterator[str]:
        """Takes the reports of the background (a failed flush, a quarantined piece) that no call has taken yet. [local]
        Each is given once per node."""
        text = ffi.new("char[]", _REPORT_BYTES)
        while True:
            try:
                self._call(lib.perdure_next_report, text, _REPORT_BYTES)
            except errors.NotFound:
                return
            yield text_of(text)

    def close(self) -> None:
        """Ends the job; does nothing when it is closed already. [collective] With an embedded engine, waits until all
        captured data is at the store or was abandoned. An error names the data that stays behind; the job is closed
        all the same."""
        with self._exclusive():
            self._check_not_within_a_call()
            if self._handle == ffi.NULL:
                return
            _goodbye.closed(self._number)
            handle = ffi.new("perdure_t**", self._handle)
            self._handle = ffi.NULL
            self._calling = True
            try:
                status = lib.perdure_close(handle)
                error = self._failure_of(status, ffi.NULL)
            finally:
                self._calling = False
                self._protected.clear()
                self._names.clear()
                self._items.clear()
                self._release_group()
            if error is not None:
                raise error

    # Inside

    @property
    def _ends_with_mpi(self) -> bool:
        """Its ranks meet once more: in MPI.Finalize()."""
        return self._group is not None and self._group.meets_at_the_end

    def _end(self) -> None:
        """Closes a job that the program has not closed, when Python or MPI ends. If it cannot be closed together with
        the other ranks, the C library ends it for this rank alone when the process ends."""
        if self._process != os.getpid():
            return
        self._left_to_library = True
        if not self._lock.acquire(timeout=_PATIENCE_S):
            return
        try:
            if self._handle == ffi.NULL or self._calling:
                return
            if self._group is None or (self._ends_with_mpi and not _goodbye.by_exception()):
                self.close()
            else:
                for name in list(self._protected):  # Python frees their arrays: no copy may go on
                    self.unprotect(name)
        except errors.Error as failure:
            warnings.warn(f"closing {self!r} at the end failed: {failure}", RuntimeWarning, stacklevel=2)
        finally:
            self._lock.release()

    def _id_for(self, name: str, given: Optional[int]) -> int:
        """Gives the id under which `name` is protected from now on."""
        if not isinstance(name, str) or not name:
            raise errors.refused(f"region {name!r}: it needs a name, which is a text")
        known = self._protected.get(name)
        if known is not None and given in (None, known.id):
            return known.id
        if known is not None:
            raise errors.refused(f"region '{name}': it is protected as {known.id}, not as {given}; unprotect it first")
        number = _id_of_name(name) if given is None else operator.index(given)
        if not 0 <= number < 2**31:
            raise errors.refused(f"region '{name}': id {number} is not from 0 to 2**31 - 1")
        if number in self._names:
            other = self._names[number]
            raise errors.refused(f"region '{name}': id {number} is that of '{other}'; pass another one, id=")
        return number

    def _id_of(self, region: Union[str, int]) -> int:
        """Gives the id of a region by its name, or by its id."""
        if isinstance(region, str):
            entry = self._protected.get(region)
            return _id_of_name(region) if entry is None else entry.id
        number = operator.index(region)
        return number if 0 <= number < 2**31 else -1

    def _not_protected(
        self, regions: Sequence[Union[str, int]], status: errors.Status = errors.Status.NOT_FOUND
    ) -> errors.Error:
        names = ", ".join(self._protected) or "nothing"
        text = f"{', '.join(map(repr, regions))}: not protected; there is {names}"
        return errors.error_of(status, text)

    def _register(
        self, name: str, number: int, source: Any, optional: bool, how: Registration, items: Optional[Items] = None
    ) -> None:
        """The former memory of the name is kept alive until it is replaced, and stays if this fails."""
        text = _region_text(number, name)
        owner = source if callable(source) else None
        memory = how.kept(source if owner is None else self._read(owner, text))
        calls = how.calls(memory)
        first = next(calls)  # checked; the targets of the calls' pointers live as long as `calls` does
        known = name in self._protected
        self._call(*first)
        self._protected[name] = Protected(number, memory, how, owner, items)
        self._names[number] = name
        try:
            for call in calls:
                self._call(*call)
            self._call(lib.perdure_set_presence, number, lib.PERDURE_OPTIONAL if optional else lib.PERDURE_REQUIRED)
        except errors.Error:
            if not known:
                self._forget(name)
            raise

    def _local(self, name: str, number: int, unit: str, description: str) -> Registration:
        """Registers memory of this rank alone."""
        text = _region_text(number, name)
        label = [c_text(part, "a text") for part in (name, unit, description)]

        def calls(array: Any) -> Iterator[Tuple[Any, ...]]:
            check_memory(array, text, dense=False)
            if not array.flags.forc:
                raise errors.refused(f"{text}: it has gaps: neither C- nor Fortran-contiguous")
            yield lib.perdure_protect, number, address_of(array), array.itemsize, array.size
            yield (lib.perdure_describe, number, *label)
            yield (lib.perdure_describe_elements, number, *_elements_of(array))

        return Registration(calls, lambda array: ())

    def _all_or_none(
        self, owners: Sequence[Tuple[str, Callable[[], Any]]], optional: bool, items: Optional[Items]
    ) -> None:
        """Registers each as protect() does, under a name that may be protected already, which it replaces."""
        done: List[str] = []
        try:
            for name, read in owners:
                number = self._id_for(name, None)
                self._register(name, number, read, optional, self._local(name, number, "", ""), items)
                done.append(name)
        except errors.Error:
            for name in done:
                self._forget(name)
            raise

    def _forget(self, name: str) -> None:
        self._call(lib.perdure_unprotect, self._protected[name].id)
        del self._names[self._protected.pop(name).id]

    def _read(self, owner: Callable[[], Any], text: str) -> Any:
        """Gives the owner's array. The owner may not call this job: the arrays are being looked for."""
        self._check_not_within_a_call()
        self._calling = True
        try:
            return read_of(owner, text)
        finally:
            self._calling = False

    def _call_on_arrays(self, call: Callable[[], Tuple[Any, ...]]) -> None:
        """Makes a collective call on the owners' present arrays, when `call` says which. An owner without an array, or
        one that is interrupted, fails it on all ranks: none is left waiting for this one."""
        refusal: Optional[BaseException] = None
        with self._exclusive():
            try:
                self._find_arrays()
            except errors.Error as error:
                refusal = error
            except Exception as error:
                refusal = errors.refused(f"arrays: what their owners have is none: {type(error).__name__}: {error}")
                refusal.__cause__ = error
            except BaseException as error:  # KeyboardInterrupt, SystemExit
                refusal = error
            try:
                if refusal is not None:
                    self._refuse_next(refusal)
                self._call(*call())
            except errors.Error:
                if refusal is None:
                    raise
            if refusal is not None:
                raise refusal

    def _refuse_next(self, refusal: BaseException) -> None:
        """The library itself says which region it is."""
        text = refusal.text if isinstance(refusal, errors.Error) else f"arrays: {type(refusal).__name__}"
        text = text.replace("\0", "?").removesuffix(" (invalid-argument)")
        number = -1
        for name, entry in self._protected.items():
            region = _region_text(entry.id, name) + ": "
            if text.startswith(region):
                number, text = entry.id, text[len(region) :]
                break
        self._call(lib.perdure_refuse_next, number, c_text(text, "the reason"))

    def _find_arrays(self) -> None:
        """Reads all owners, and registers arrays that are elsewhere by now."""
        self._forget_items()
        moved = []
        for name, entry in list(self._protected.items()):
            if entry.owner is None:
                continue
            text = _region_text(entry.id, name)
            memory = entry.how.kept(self._read(entry.owner, text))
            if entry.is_at(memory):
                entry.memory = memory
                continue
            calls = entry.how.calls(memory)
            first = next(calls)
            if entry.how.fixed(memory) != entry.fixed:
                raise errors.refused(
                    f"{text}: its owner has another size, shape or type of it than before, and it is a part of an array"
                    " that ranks have together; protect it again, on all ranks"
                )
            moved.append((entry, memory, first, calls))
        # All leave their memory before the first gets its new one: two that have swapped do not overlap.
        for entry, _, _, _ in moved:
            entry.lies = None  # also if the next call fails
            self._call(lib.perdure_protect, entry.id, ffi.NULL, 1, 0)
        for entry, memory, first, calls in moved:
            self._call(*first)
            for call in calls:
                self._call(*call)
            entry.memory, entry.lies = memory, lies_as(memory)
        self._protect_items()

    def _items_there(self, items: Items) -> Dict[str, str]:
        """Gives the keys that a dict has, by the regions' names."""
        keys = self._read(functools.partial(list, items.owner), "the dict of arrays")
        return {items.name_of(key): key for key in keys}

    def _forget_items(self) -> None:
        """Unprotects keys that have gone."""
        for items in self._items:
            there = self._items_there(items)
            for name in [name for name, entry in self._protected.items() if entry.items is items and name not in there]:
                self._forget(name)

    def _protect_items(self) -> None:
        """Protects keys that have come."""
        for items in self._items:
            for name, key in self._items_there(items).items():
                if name not in self._protected and name not in items.left_out:
                    number = self._id_for(name, None)
                    how = self._local(name, number, "", "")
                    self._register(name, number, items.reads(key), items.optional, how, items)

    def _block(self, declared: Declaration, grid: Optional[Sequence[int]]) -> Tuple[slice, ...]:
        begin, end = ffi.new("uint64_t[8]"), ffi.new("uint64_t[8]")
        self._call(lib.perdure_block, declared.native, _grid(grid, declared), begin, end)
        return tuple(slice(begin[d], end[d]) for d in range(len(declared.shape)))

    def _progress(self) -> Tuple[Optional[errors.Error], Progress]:
        """Fills in this rank's own facts even if the engine does not answer."""
        progress = ffi.new("perdure_progress*")
        failure = None
        try:
            self._call(lib.perdure_get_progress, progress)
        except (errors.Closed, errors.WrongProcess):
            raise
        except errors.Error as error:
            failure = error
        return failure, Progress(*(getattr(progress, field) for field in Progress.__dataclass_fields__))

    def _release_group(self) -> None:
        if self._group is not None and self._process == os.getpid():
            self._group.release()

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Admits one thread at a time, of the process that opened the job."""
        # Checked before the lock, which another thread of the parent may have held at the time of the fork.
        if self._process != os.getpid():
            raise errors.error_of(errors.Status.WRONG_PROCESS, "job: the process that forked this one opened it")
        with self._lock:
            yield

    def _check_not_within_a_call(self) -> None:
        # The communicator's methods, owners of arrays, and handlers of signals run within calls.
        if self._calling:
            text = "job: it is called within one of its calls, by its communicator or the owner of an array"
            raise errors.error_of(errors.Status.BUSY, text)

    def _call(self, function: Any, *arguments: Any) -> None:
        """Makes one call of the C library; reads the text of its failure before another thread can call."""
        with self._exclusive():
            if self._handle == ffi.NULL:
                raise errors.error_of(errors.Status.CLOSED, "the job is closed")
            self._check_not_within_a_call()
            self._calling = True
            try:
                status = function(self._handle, *arguments)
            finally:
                self._calling = False
            error = self._failure_of(status, self._handle)
            if error is not None:
                raise error

    def _failure_of(self, status: int, handle: Any) -> Optional[errors.Error]:
        """Gives the failure of the call that this thread made last. An exception of the communicator is its cause, also
        if the library could do without."""
        cause = self._group.take_failure() if self._group else None
        if status == errors.Status.OK and cause is None:
            return None
        if status == errors.Status.OK:
            error = errors.error_of(errors.Status.PEER_FAILED, f"communicator: {cause!r}")
        else:
            text = text_of(lib.perdure_error_text(handle)) or text_of(lib.perdure_status_name(status))
            error = errors.error_of(status, text, bool(lib.perdure_error_retryable(handle)))
        error.__cause__ = cause
        return error


def _region_text(number: int, name: str) -> str:
    return f"region {number} '{name}'"


def _elements_of(array: numpy.ndarray) -> Tuple[Any, int, Any]:
    """Gives the type, if the library has one for it, and the shape as the memory lies."""
    lies = array.shape if array.flags.c_contiguous else array.shape[::-1]
    extents = ffi.new("uint64_t[]", lies or (0,)) if array.ndim <= _MOST_DIMENSIONS else ffi.NULL
    try:
        known = c_text(element_text(array.dtype), "the type")
    except errors.InvalidArgument:
        known = ffi.NULL
    return known, array.ndim, extents


def _id_of_name(name: str) -> int:
    """Gives 31 bits of the name's SHA-256: the same in every program, unlike the order of calls."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") & 0x7FFFFFFF


def _checkpoint_name(name: str) -> Any:
    """A name that C would cut becomes one that the library refuses, on all ranks."""
    return c_bytes(name.encode().replace(b"\0", b"?"), "the name")


def _grid(grid: Optional[Sequence[int]], declared: Declaration) -> Any:
    if grid is None:
        return ffi.NULL
    return ffi.new("uint64_t[]", indices(grid, len(declared.shape), f"{declared.text}: the grid") or (0,))


def _options_text(options: Union[str, Mapping[str, Any]]) -> str:
    if isinstance(options, str):
        return options
    return "\n".join(f"{key}={_option_value(str(key), value)}" for key, value in options.items())


def _option_value(key: str, value: Any) -> str:
    if value is None:
        raise errors.refused(f"option {key!r}: None is no value; leave it out, and its default is taken")
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, (list, tuple)):
        text = ",".join(_option_value(key, item) for item in value)
    else:
        text = os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    if any(character in part for part in (key, text) for character in ";\n\"") or "=" in key:
        raise errors.refused(f"option {key!r}: {text!r} has a semicolon, a quote or a line's end, which would end it")
    return text
