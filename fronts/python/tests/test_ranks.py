"""Many ranks work without MPI: arrays come back on other numbers of ranks, and exceptions of a communicator are never
lost."""

import contextlib
import io
import threading
import unittest

import numpy

import perdure
from perdure.communicator import Group
from support import PlaceCase, ThreadComm, ThreadGroup

SHAPE = (11, 7)
WHOLE = numpy.arange(77, dtype="f8").reshape(SHAPE)
ROW = numpy.dtype([("position", "f8", (3,)), ("id", "i8")])


class OtherRanks(PlaceCase):
    def write(self, comm, rank):
        with self.job(comm) as job:
            self.assertEqual((job.rank, job.size), (rank, 3))
            mine = WHOLE[job.block(SHAPE)].copy()
            rows = numpy.zeros(2 * rank, ROW)  # rank 0 has none
            rows["id"] = 100 * rank + numpy.arange(len(rows))
            own = numpy.full(4 + rank, rank, "i4")
            job.protect_block("field", mine, SHAPE, unit="K")
            job.protect_list("rows", rows)
            job.protect_replicated("step", numpy.array(12))
            job.protect("own", own)
            job.checkpoint("app", 12)
            job.wait("app", 12)
            return job.block(SHAPE)

    def test_give_back_blocks_lists_and_replicated_values_element_by_element(self):
        blocks = self.run_ranks(3, self.write)
        self.assertEqual(sum(WHOLE[block].size for block in blocks), 77)

        def read(comm, rank):
            with self.job(comm) as job:
                stored = job.stored_array("app", "rows", 12)
                self.assertEqual((stored.shape, stored.dtype, stored.name), ((6,), ROW, "rows"))
                block = job.block(SHAPE)
                halo = numpy.full([part.stop - part.start + 2 for part in block], -1.0)
                rows = numpy.zeros(4 - 2 * rank, ROW)
                step = numpy.zeros((), int)
                job.protect_block("field", halo, SHAPE, ghosts=1, fill_ghosts=True)
                job.protect_list("rows", rows)
                job.protect_replicated("step", step)
                self.assertEqual(job.latest("app"), 12)
                self.assertEqual(job.restore("app"), 12)
                own = numpy.zeros(6 - rank, "i4")
                job.restore_part("app", 2 - rank, "own", own)
                return block, halo, rows["id"].tolist(), int(step), own.tolist()

        results = self.run_ranks(2, read)
        framed = numpy.full((13, 9), -1.0)
        framed[1:-1, 1:-1] = WHOLE
        for block, halo, _, step, _ in results:
            around = tuple(slice(part.start, part.stop + 2) for part in block)
            self.assertTrue(numpy.array_equal(halo, framed[around]), "ghosts come from other ranks")
            self.assertEqual(step, 12)
        self.assertEqual([rows for _, _, rows, _, _ in results], [[100, 101, 200, 201], [202, 203]])
        self.assertEqual([own for *_, own in results], [[2] * 6, [1] * 5])
        with perdure.Store(self.store).open("app") as checkpoint:
            self.assertEqual(checkpoint.ranks, 3)
            self.assertTrue(numpy.array_equal(checkpoint["field"], WHOLE))
            self.assertEqual(checkpoint["own"].shape, (6,))
            self.assertEqual(checkpoint.local(1, "own").view("i4").tolist(), [1] * 5)

    def test_have_parts_with_strides_or_nothing(self):
        def write(comm, rank):
            with self.job(comm) as job:
                memory = numpy.asfortranarray(numpy.zeros((5, 6)))
                parts = [((0, 0), memory[:2, ::2]), ((2, 0), memory[2:4, 3:])] if rank == 1 else []
                job.protect_global("field", (4, 3), parts, dtype=float)
                if rank == 1:
                    parts[0][1][...] = [[0, 1, 2], [3, 4, 5]]
                    parts[1][1][...] = [[6, 7, 8], [9, 10, 11]]
                job.checkpoint("app", 1)

        self.run_ranks(2, write)

        def read(comm, rank):
            with self.job(comm) as job:
                part = job.block((4, 3), grid=(1, 3))
                column = numpy.zeros((4, 2))[:, ::2]
                job.protect_block("field", column, (4, 3), grid=(1, 3))
                job.restore("app")
                return part, column.ravel().tolist()

        for rank, (part, column) in enumerate(self.run_ranks(3, read)):
            self.assertEqual(part, (slice(0, 4), slice(rank, rank + 1)))
            self.assertEqual(column, [rank, 3 + rank, 6 + rank, 9 + rank])

    def test_with_empty_blocks_are_ranks_like_others(self):
        def write(comm, rank):
            with self.job(comm) as job:
                block = job.block((2,))
                mine = numpy.full(block[0].stop - block[0].start, 5.0)
                job.protect_block("few", mine, (2,))
                job.checkpoint("app", 1)
                mine[:] = 0
                job.restore("app")
                return mine.tolist()

        self.assertEqual(sorted(map(len, self.run_ranks(3, write))), [0, 1, 1])

    def test_that_disagree_get_the_same_error(self):
        def work(comm, rank):
            with self.job(comm) as job:
                texts = []
                job.protect_replicated("step", numpy.array(rank))
                with self.assertRaises(perdure.Mismatch) as caught:
                    job.checkpoint("app", 1)
                texts.append(str(caught.exception))
                job.unprotect("step")
                job.protect_global("field", (4,), [((0,), numpy.zeros(2))] if rank == 0 else [], dtype=float)
                with self.assertRaises(perdure.Mismatch) as caught:
                    job.checkpoint("app", 1)
                texts.append(str(caught.exception))
                # One rank's impossible argument is refused on all, so that nobody waits for it.
                for call in (lambda: job.checkpoint("a\0b" if rank == 0 else "ab", 1),
                             lambda: job.checkpoint("ab", 2**70 if rank == 0 else 1),
                             lambda: job.restore("app", regions=["unknown"] if rank == 0 else ["field"]),
                             lambda: job.restore_part("app", 0, "x", [1] if rank == 0 else numpy.zeros(1)),
                             lambda: job.wait("app", 1, timeout=-3 if rank == 0 else 3)):
                    with self.assertRaises(perdure.Error):
                        call()
                return texts

        first, second = self.run_ranks(2, work)
        self.assertEqual(first, second)


class Failing(ThreadComm):
    """Makes its collectives raise from a certain one on, and break the others' off."""

    def __init__(self, comm, after, error):
        super().__init__(comm.group, comm.number)
        self.after, self.error = after, error

    def _exchange(self, mine, use):
        if self.calls >= self.after:
            self.group.break_off()
            raise self.error
        super()._exchange(mine, use)


class BrokenCommunicators(PlaceCase):
    def test_are_the_cause_of_the_error_of_every_call_that_uses_them(self):
        def calls_of_open(comm, rank):
            with self.job(comm) as job:
                opened = comm.calls
                job.protect("a", numpy.zeros(3))
                job.checkpoint("count", 1)
                return opened, comm.calls

        opened, checkpointed = self.run_ranks(2, calls_of_open)[0]
        self.assertGreater(checkpointed, opened)

        def work(comm, rank):
            error = ZeroDivisionError("on the wire")
            failing = Failing(comm, opened, error) if rank == 1 else comm
            job = self.job(failing)
            job.protect("a", numpy.zeros(3))
            for call in (lambda: job.checkpoint("app", 1), lambda: job.restore("app"), lambda: job.latest("app"), job.close):
                with self.assertRaises(perdure.Error) as caught:
                    call()
                if rank == 1:
                    self.assertIs(caught.exception.__cause__, error)
                else:
                    self.assertIsInstance(caught.exception.__cause__, threading.BrokenBarrierError)
            return caught.exception.status

        self.run_ranks(2, work)

    def test_are_the_cause_of_a_failed_open_wherever_they_break(self):
        for after in range(0, 6):
            def work(comm, rank, after=after):
                error = KeyError("on the wire")
                with self.assertRaises(perdure.Error) as caught:
                    self.job(Failing(comm, after, error) if rank == 1 else comm)
                if rank == 1:
                    self.assertIs(caught.exception.__cause__, error)

            with self.subTest(after):
                self.run_ranks(2, work)

    def test_that_return_with_an_interrupt_lose_it_neither(self):
        def work(comm, rank):
            with self.assertRaises(perdure.PeerFailed) as caught:
                self.job(Failing(comm, 0, KeyboardInterrupt()) if rank == 1 else comm)
            return type(caught.exception.__cause__)

        self.assertEqual(self.run_ranks(2, work), [threading.BrokenBarrierError, KeyboardInterrupt])

    def test_print_nothing(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.test_that_return_with_an_interrupt_lose_it_neither()
        self.assertEqual(said.getvalue(), "")

    def test_that_call_their_job_are_refused_and_wait_for_nothing(self):
        class Calling(ThreadComm):
            job = None
            refused = []

            def _exchange(self, mine, use):
                if self.job is not None:
                    for call in (lambda: self.job.progress, self.job.close):
                        try:
                            call()
                        except perdure.Busy as error:
                            self.refused.append(error)
                super()._exchange(mine, use)

        comm = Calling(ThreadGroup(1), 0)
        with self.job(comm) as job:
            comm.job = job
            job.protect("a", numpy.zeros(3))
            job.checkpoint("app", 1)
            comm.job = None
        self.assertTrue(comm.refused)


class Groups(unittest.TestCase):
    def test_reduce_gather_and_broadcast_the_memory_of_the_library(self):
        ffi = perdure._capi.ffi
        group = ThreadGroup(3)
        results = [None] * 3

        def work(rank):
            owner = Group(group.rank(rank))  # the owner of the callbacks
            native = owner.native
            reduced = []
            for operation in range(3):
                values = ffi.new("uint64_t[]", [rank, 2**64 - 1 - rank])
                self.assertEqual(native.allreduce(ffi.NULL, values, 2, operation), 0)
                reduced.append(list(values))
            own, everybodys = ffi.new("char[2]", b"%da" % rank), ffi.new("char[6]")
            status = native.allgather(ffi.NULL, own, 2, everybodys)
            data = ffi.new("char[3]", b"abc" if rank == 2 else b"   ")
            status += native.broadcast(ffi.NULL, data, 3, 2) + native.barrier(ffi.NULL)
            results[rank] = status, reduced, ffi.buffer(everybodys)[:], ffi.buffer(data)[:]

        threads = [threading.Thread(target=work, args=(rank,)) for rank in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        reduced = [[0, 2**64 - 3], [2, 2**64 - 1], [3, 2**64 - 6]]
        self.assertEqual(results, [(0, reduced, b"0a1a2a", b"abc")] * 3)


if __name__ == "__main__":
    unittest.main()
