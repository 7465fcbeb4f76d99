"""Perdure, the resilience runtime for parallel programs, reads and writes checkpoints as numpy arrays.

Reading needs a store only:

    with perdure.Store("perdure-store").open("plate") as checkpoint:
        rows = checkpoint["temperature"][100:200]

Writing needs a job, alone or with an mpi4py communicator:

    with perdure.Job(MPI.COMM_WORLD) as job:
        job.protect_block("temperature", mine, (600, 500))
        job.checkpoint("plate", step)

Failures are perdure.Error and its subclasses, one for each status of the C library.
"""

from ._capi import library_path, library_version
from ._version import __version__
from .errors import (
    Busy,
    Closed,
    Corrupt,
    Error,
    Exists,
    Incomplete,
    Internal,
    InvalidArgument,
    Io,
    Mismatch,
    NoSpace,
    NotFound,
    PeerFailed,
    Permission,
    Status,
    Timeout,
    Unavailable,
    Unsupported,
    WrongProcess,
)
from .job import Due, Job, Level, PassedOver, Progress, Restored, StoredArray
from .store import Checkpoint, Kind, Region, State, Store, StoredVersion

__all__ = [
    "Busy",
    "Checkpoint",
    "Closed",
    "Corrupt",
    "Due",
    "Error",
    "Exists",
    "Incomplete",
    "Internal",
    "InvalidArgument",
    "Io",
    "Job",
    "Kind",
    "Level",
    "Mismatch",
    "NoSpace",
    "NotFound",
    "PassedOver",
    "PeerFailed",
    "Permission",
    "Progress",
    "Region",
    "Restored",
    "State",
    "Status",
    "Store",
    "StoredArray",
    "StoredVersion",
    "Timeout",
    "Unavailable",
    "Unsupported",
    "WrongProcess",
    "__version__",
    "library_path",
    "library_version",
]
