"""Failures are exceptions: there is one class for each status of the C library."""

from __future__ import annotations

import enum
from typing import Dict, Tuple, Type


class Status(enum.IntEnum):
    """The outcome of a call, as perdure_status. Values never change their meaning."""

    OK = 0
    INVALID_ARGUMENT = 1
    NOT_FOUND = 2
    EXISTS = 3
    MISMATCH = 4
    CORRUPT = 5
    NO_SPACE = 6
    IO = 7
    PERMISSION = 8
    UNAVAILABLE = 9
    TIMEOUT = 10
    CLOSED = 11
    WRONG_PROCESS = 12
    UNSUPPORTED = 13
    PEER_FAILED = 14
    BUSY = 15
    INTERNAL = 16
    INCOMPLETE = 17


class Error(Exception):
    """A failure: `status` is its kind, `text` has the object, the cause and the remedy. `retryable` is true when it may
    go away by itself. Its subclasses are the kinds."""

    status: Status
    text: str
    retryable: bool

    def __init__(self, status: int, text: str, retryable: bool = False) -> None:
        super().__init__(text)
        self.status = Status(status)
        self.text = text
        self.retryable = retryable

    def __str__(self) -> str:  # that of OSError, a base of some kinds, would show a number
        return self.text

    def __reduce__(self) -> Tuple[object, ...]:  # so that a process of a pool can tell it to its parent
        return error_of, (int(self.status), self.text, self.retryable)


class InvalidArgument(Error, ValueError):
    """An argument is wrong; the call did nothing."""


class NotFound(Error, LookupError):
    """There is no such checkpoint, version or file: nothing exists under that name, anywhere."""


class Exists(Error, FileExistsError):
    """This version, or this file, is there already."""


class Mismatch(Error):
    """Ranks disagree, or a region is not of the size or type that was stored."""


class Corrupt(Error):
    """Data failed verification; it is not used."""


class NoSpace(Error, OSError):
    """A tier, the store or memory is full, or a quota or a limit of the system is reached."""


class Io(Error, OSError):
    """A device or file system failed."""


class Permission(Error, PermissionError):
    """Access is denied, or the file system is read-only."""


class Unavailable(Error):
    """The engine or the store cannot be reached at the moment."""


class Timeout(Error, TimeoutError):
    """The time given to the call ran out."""


class Closed(Error, ValueError):
    """It was closed before; as with files, a ValueError too."""


class WrongProcess(Error):
    """It belongs to the process that forked this one."""


class Unsupported(Error, NotImplementedError):
    """It was written by a newer Perdure, or is not possible on this system."""


class PeerFailed(Error):
    """Another rank failed, whose own error says why; or the communicator did, whose exception is the cause."""


class Busy(Error):
    """Somebody else holds it."""


class Internal(Error, RuntimeError):
    """A defect of Perdure; please report it."""


class Incomplete(Error):
    """There are checkpoints of that name, and parts of all of them are missing."""


_KINDS: Dict[int, Type[Error]] = {
    Status.INVALID_ARGUMENT: InvalidArgument,
    Status.NOT_FOUND: NotFound,
    Status.EXISTS: Exists,
    Status.MISMATCH: Mismatch,
    Status.CORRUPT: Corrupt,
    Status.NO_SPACE: NoSpace,
    Status.IO: Io,
    Status.PERMISSION: Permission,
    Status.UNAVAILABLE: Unavailable,
    Status.TIMEOUT: Timeout,
    Status.CLOSED: Closed,
    Status.WRONG_PROCESS: WrongProcess,
    Status.UNSUPPORTED: Unsupported,
    Status.PEER_FAILED: PeerFailed,
    Status.BUSY: Busy,
    Status.INTERNAL: Internal,
    Status.INCOMPLETE: Incomplete,
}


def error_of(status: int, text: str, retryable: bool = False) -> Error:
    """Makes the exception for a status, of its own class."""
    return _KINDS[status](status, text, retryable)


def refused(text: str) -> InvalidArgument:
    """Makes the exception for an argument that this package refuses before the C library sees it."""
    return InvalidArgument(Status.INVALID_ARGUMENT, f"{text} (invalid-argument)")
