"""The tests share this: places of their own, and ranks that are threads of this process."""

import shutil
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy

import perdure

PATIENCE_S = 120  # far beyond what a loaded machine needs


class PlaceCase(unittest.TestCase):
    """Every test has a store, a node and a file tier in a directory of its own, which is removed."""

    def setUp(self):
        self.place = Path(tempfile.mkdtemp(prefix="perdure-python-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.store = str(self.place / "store")
        self.options = {
            "engine.mode": "embedded",
            "store.path": self.store,
            "node.path": self.place / "node",
            "tier.file.path": self.place / "file",
            "tier.memory.max_bytes": "64MiB",
            "node.ranks_per_node": 8,
            "retention.keep_last": 5,
        }

    def job(self, comm=None, **options):
        return perdure.Job(comm, {**self.options, **{key.replace("__", "."): value for key, value in options.items()}})

    def run_ranks(self, size, work):
        """Calls work(communicator, rank) on every rank, each in a thread; gives the results. The first exception of a
        rank ends the waiting of the others, and is raised."""
        group = ThreadGroup(size)
        results, failures = [None] * size, [None] * size

        def rank_of(rank):
            try:
                results[rank] = work(group.rank(rank), rank)
            except BaseException as error:
                failures[rank] = error
                group.barrier.abort()

        threads = [threading.Thread(target=rank_of, args=(rank,), daemon=True) for rank in range(size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)
        self.assertFalse([thread for thread in threads if thread.is_alive()], "ranks wait for ever")
        told = [error for error in failures if error is not None]
        # A rank whose collective was broken off only followed another one.
        first = [error for error in told if not isinstance(error.__cause__, threading.BrokenBarrierError)]
        if told:
            raise (first or told)[0]
        return results


class ThreadGroup:
    """Makes collectives without MPI."""

    def __init__(self, size):
        self.size = size
        self.barrier = threading.Barrier(size)
        self.given = [None] * size

    def break_off(self):
        """Done by the only rank that does not wait: a rank that has not left the exchange before would end with its
        error."""
        end = time.monotonic() + PATIENCE_S
        while not self.barrier.broken and self.barrier.n_waiting < self.size - 1:
            if time.monotonic() > end:
                raise TimeoutError("the other ranks do not come to the exchange that is to break off")
            time.sleep(0.001)
        self.barrier.abort()

    def rank(self, rank):
        return ThreadComm(self, rank)


class ThreadComm:
    """Has the methods of an mpi4py communicator that perdure.communicator needs."""

    def __init__(self, group, rank):
        self.group, self.number = group, rank
        self.calls = 0

    def Get_rank(self):
        return self.number

    def Get_size(self):
        return self.group.size

    def Barrier(self):
        self._exchange(None, lambda given: None)

    def Allreduce(self, send, receive, op):
        reduce = {"min": numpy.minimum, "max": numpy.maximum, "sum": numpy.add}[op].reduce
        self._exchange(send, lambda given: receive.__setitem__(..., reduce(given)))

    def Allgather(self, send, receive):
        self._exchange(send, lambda given: receive.__setitem__(..., numpy.concatenate(given)))

    def Bcast(self, data, root):
        self._exchange(data, lambda given: self.number == root or data.__setitem__(..., given[root]))

    def _exchange(self, mine, use):
        self.calls += 1
        self.group.given[self.number] = mine
        self.group.barrier.wait(PATIENCE_S)
        try:
            use(list(self.group.given))
        except BaseException:  # the others would wait for this rank
            self.group.barrier.abort()
            raise
        self.group.barrier.wait(PATIENCE_S)


def flip_a_byte(path, offset_from_end):
    """Changes a byte of a stored file; files of a store may be read-only."""
    path.chmod(0o644)
    content = bytearray(path.read_bytes())
    content[-offset_from_end] ^= 0x40
    path.write_bytes(content)
