"""test_mpi.py runs this under mpirun; its arguments are the DIRECTORY of the test, and the work to do."""

import sys
from pathlib import Path

import numpy
from mpi4py import MPI

import perdure

SHAPE = (9, 4)
WHOLE = numpy.arange(36.0).reshape(SHAPE)


def open_job(place, comm=MPI.COMM_WORLD):
    options = {"engine.mode": "embedded", "store.path": place / "store", "node.path": place / "node",
               "tier.file.path": place / "file", "tier.memory.max_bytes": "64MiB"}
    return perdure.Job(comm, options)


def write(place):
    with open_job(place) as job:
        mine = WHOLE[job.block(SHAPE)].copy()
        job.protect_block("field", mine, SHAPE)
        job.protect_replicated("step", numpy.array(4))
        job.checkpoint("app", 4)


def read(place):
    with open_job(place) as job:
        mine, step = numpy.zeros([part.stop - part.start for part in job.block(SHAPE)]), numpy.zeros((), int)
        job.protect_block("field", mine, SHAPE)
        job.protect_replicated("step", step)
        assert job.restore("app") == 4
        assert step == 4 and numpy.array_equal(mine, WHOLE[job.block(SHAPE)])


def split(place):
    """Runs two jobs side by side, of half of the ranks each; messages of the program and of the jobs are kept apart."""
    comm = MPI.COMM_WORLD
    half = comm.Split(comm.rank % 2)
    with open_job(place / str(comm.rank % 2), half) as job:
        request = comm.irecv(source=(comm.rank + 1) % comm.size)
        job.protect_replicated("step", numpy.array(1))
        job.checkpoint("app", 1)
        comm.send(comm.rank, dest=(comm.rank - 1) % comm.size)
        assert request.wait() == (comm.rank + 1) % comm.size
    half.Free()


def late(place):
    """MPI.Finalize() closes open jobs; afterwards there is nothing to do."""
    job = open_job(place)
    job.protect_replicated("step", numpy.array(4))
    job.checkpoint("app", 4)
    MPI.Finalize()
    assert "closed" in repr(job)
    job.close()


def forgotten(place):
    """Python's end closes open jobs, before it ends MPI."""
    global kept
    kept = open_job(place)
    kept.protect_replicated("step", numpy.array(4))
    kept.checkpoint("app", 4)


if __name__ == "__main__":
    {"write": write, "read": read, "split": split, "late": late, "forgotten": forgotten}[sys.argv[2]](Path(sys.argv[1]))
    print("good", flush=True)
