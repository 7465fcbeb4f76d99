"""Jobs that nobody closed: the end of Python, and MPI.Finalize(), close them in the reverse order of opening."""

from __future__ import annotations

import atexit
import itertools
import sys
import weakref
from typing import Any, Callable, Dict, List

_numbers = itertools.count()
_open: Dict[int, "weakref.ref[Any]"] = {}
_told_mpi = False


def opened(job: Any) -> int:
    """Closes the job at the end, unless closed() is called with this number, or the job is gone."""
    number = next(_numbers)
    _open[number] = weakref.ref(job, lambda _: closed(number))
    return number


def closed(number: int) -> None:
    """Notes that a job is closed already. [any thread]"""
    _open.pop(number, None)


def before_finalize(mpi: Any) -> None:
    """Has MPI.Finalize() close jobs of MPI's ranks first, when all of MPI still works: it deletes the attributes of
    COMM_SELF before anything else."""
    global _told_mpi
    if _told_mpi:
        return

    def delete(_comm: Any, _keyval: int, _value: Any) -> None:
        _end_all(lambda job: job._ends_with_mpi)

    mpi.COMM_SELF.Set_attr(mpi.Comm.Create_keyval(delete_fn=delete), None)
    _told_mpi = True


def by_exception() -> bool:
    """Tells whether Python ends because of an exception that nobody caught."""
    return getattr(sys, "last_value", None) is not None


def _end_all(wanted: Callable[[Any], bool]) -> None:
    jobs: List[Any] = [_open[number]() for number in sorted(_open, reverse=True)]
    for job in jobs:
        if job is not None and wanted(job):
            job._end()


atexit.register(_end_all, lambda job: True)
