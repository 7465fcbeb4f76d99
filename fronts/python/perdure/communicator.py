"""Makes a group of ranks for the C library: callbacks into an mpi4py communicator, or an object with its methods.

The communicator needs these methods, with buffers as mpi4py has them (numpy arrays here):

    Get_rank() -> int                  Get_size() -> int
    Barrier()                          Allreduce(send, receive, op=...)   of uint64, element by element
    Allgather(send, receive)           Bcast(buffer, root=...)            of bytes, equally many on all ranks

`op` is MPI.MIN, MPI.MAX or MPI.SUM for a communicator of mpi4py, and "min", "max" or "sum" for any other.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, Callable, Optional, Tuple

import numpy

from . import errors
from ._capi import ffi

_METHODS = ("Get_rank", "Get_size", "Barrier", "Allreduce", "Allgather", "Bcast")


class Group:
    """A communicator for the C library: `native` is the perdure_communicator. It has to be kept for as long as the
    handle is open, because it owns the callbacks. A communicator of mpi4py is duplicated, so that messages of the
    library and of the program cannot be mixed up; release() frees that copy."""

    def __init__(self, comm: Any) -> None:
        missing = [method for method in _METHODS if not callable(getattr(comm, method, None))]
        if missing:
            raise errors.refused(f"communicator: {type(comm).__name__} has no {', '.join(missing)}, as mpi4py's have")
        # Only a program that has imported MPI can have a communicator of it; others do not need mpi4py.
        mpi = sys.modules.get("mpi4py.MPI")
        self._mpi = mpi if mpi is not None and isinstance(comm, mpi.Comm) else None
        self._comm = comm.Dup() if self._mpi else comm
        self._operations: Tuple[Any, ...] = ("min", "max", "sum")
        if self._mpi:
            self._operations = (self._mpi.MIN, self._mpi.MAX, self._mpi.SUM)
        self._failed = threading.local()  # the library calls back on the thread that called it
        self._callbacks = (
            self._callback("int(void*)", self._barrier),
            self._callback("int(void*, uint64_t*, size_t, int)", self._allreduce),
            self._callback("int(void*, const void*, size_t, void*)", self._allgather),
            self._callback("int(void*, void*, size_t, int)", self._broadcast),
        )
        own = (self._comm.Get_rank(), self._comm.Get_size(), ffi.NULL)
        self.native = ffi.new("perdure_communicator*", (*own, *self._callbacks, ffi.NULL))

    @property
    def meets_at_the_end(self) -> bool:
        """Tells whether its ranks come to MPI.Finalize() together, and have not yet."""
        return self._mpi is not None and not self._mpi.Is_finalized()

    def before_finalize(self, tell: Callable[[Any], None]) -> None:
        """Calls tell(MPI) if it is a communicator of MPI."""
        if self._mpi:
            tell(self._mpi)

    def release(self) -> None:
        """Frees the duplicate. [collective] To be called once, when the handle is closed."""
        if self._mpi and not self._mpi.Is_finalized():
            self._comm.Free()

    def take_failure(self) -> Optional[BaseException]:
        """Gives the exception of the communicator in the last call of this thread, if there was one."""
        failure = getattr(self._failed, "error", None)
        self._failed.error = None
        return failure

    def _callback(self, signature: str, body: Callable[..., None]) -> Any:
        def call(_context: Any, *arguments: Any) -> int:
            if self._mpi and self._mpi.Is_finalized():  # MPI itself would end the process
                raise RuntimeError("MPI is finalized: close the job before that")
            body(*arguments)
            return 0

        def failed(_kind: Any, error: BaseException, _traceback: Any) -> None:
            self._failed.error = error

        return ffi.callback(signature, call, error=1, onerror=failed)

    def _barrier(self) -> None:
        self._comm.Barrier()

    def _allreduce(self, values: Any, count: int, operation: int) -> None:
        mine = _array(values, count, numpy.uint64)
        self._comm.Allreduce(mine.copy(), mine, op=self._operations[operation])

    def _allgather(self, mine: Any, count: int, everybodys: Any) -> None:
        size = self.native.size
        self._comm.Allgather(_array(mine, count, numpy.uint8), _array(everybodys, count * size, numpy.uint8))

    def _broadcast(self, data: Any, count: int, root: int) -> None:
        self._comm.Bcast(_array(data, count, numpy.uint8), root=root)


def _array(address: Any, count: int, dtype: Any) -> numpy.ndarray:
    """Shows memory of the library, which is valid during the callback only."""
    if count == 0:
        return numpy.empty(0, dtype)
    return numpy.frombuffer(ffi.buffer(address, count * numpy.dtype(dtype).itemsize), dtype)
