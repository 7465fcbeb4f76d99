"""A job of one process protects arrays, checkpoints and restores them."""

import gc
import math
import os
import pickle
import shutil
import signal
import threading
import unittest
import weakref

import numpy

import perdure
from support import PlaceCase

BODY = numpy.dtype({"names": ["position", "id"], "formats": [("f8", (3,)), "i4"], "offsets": [0, 24], "itemsize": 32})


class Jobs(PlaceCase):
    def setUp(self):
        super().setUp()
        self.alone = self.job()
        self.addCleanup(self.alone.close)


class Restart(PlaceCase):
    def test_gives_back_what_was_protected_of_every_kind(self):
        def state():
            return {
                "own": numpy.zeros(6, "i4"),
                "matrix": numpy.zeros((3, 4), order="F"),
                "block": numpy.zeros((4, 5), "c16"),
                "halo": numpy.full((4, 6), -1.0),
                "boxed": numpy.zeros((2, 8))[:, ::2],
                "bodies": numpy.zeros(3, BODY),
                "step": numpy.zeros((), int),
                "mask": numpy.zeros(4, bool),
            }

        def protect(job, arrays):
            job.protect("own", arrays["own"], unit="m", description="what this rank alone has")
            job.protect("matrix", arrays["matrix"])
            job.protect_block("block", arrays["block"], (4, 5), unit="K")
            job.protect_block("halo", arrays["halo"], (2, 4), ghosts=1)
            job.protect_global("boxed", (4, 4), [((0, 0), arrays["boxed"]), ((2, 0), arrays["boxed"][::-1])][:1]
                               + [((2, 0), self.lower)])
            job.protect_list("bodies", arrays["bodies"])
            job.protect_replicated("step", arrays["step"])
            job.protect_replicated("mask", arrays["mask"])

        arrays = state()
        self.lower = numpy.zeros((2, 4))
        with self.job() as job:
            with self.assertRaises(perdure.NotFound):
                job.restore("app")
            self.assertIsNone(job.latest("app"))
            protect(job, arrays)
            arrays["own"][:] = range(6)
            arrays["matrix"][...] = numpy.arange(12).reshape(3, 4)
            arrays["block"][...] = numpy.arange(20).reshape(4, 5) * 1j
            arrays["halo"][1:-1, 1:-1] = numpy.arange(8).reshape(2, 4)
            arrays["boxed"][...] = numpy.arange(8).reshape(2, 4)
            self.lower[...] = numpy.arange(8, 16).reshape(2, 4)
            arrays["bodies"]["id"] = [7, 8, 9]
            arrays["step"][...] = 41
            arrays["mask"][1] = True
            job.checkpoint("app", 3)
        written = {name: array.copy() for name, array in arrays.items()}
        arrays = state()
        lower, self.lower = self.lower.copy(), numpy.zeros((2, 4))
        with self.job() as job:
            protect(job, arrays)
            self.assertEqual(job.latest("app"), 3)
            self.assertEqual(job.restore("app"), 3)
            self.assertEqual(job.progress.restored_version, 3)
        for name, array in arrays.items():
            self.assertTrue(numpy.array_equal(array, written[name]), name)
        self.assertTrue(numpy.array_equal(self.lower, lower))
        with perdure.Store(self.store).open("app") as checkpoint:
            self.assertTrue(numpy.array_equal(checkpoint["boxed"], numpy.arange(16).reshape(4, 4)))
            self.assertTrue(numpy.array_equal(checkpoint["halo"], written["halo"][1:-1, 1:-1]), "ghosts are not stored")
            self.assertEqual(checkpoint["own"].description, "what this rank alone has")
            fortran = checkpoint.local(0, "matrix").view(float).reshape((3, 4), order="F")
            self.assertTrue(numpy.array_equal(fortran, written["matrix"]), "memory of one rank is stored as it lies")

    def test_takes_the_version_and_the_regions_that_are_asked_for(self):
        a, b = numpy.zeros(3), numpy.zeros(3)
        with self.job() as job:
            job.protect("a", a)
            job.protect("b", b, id=5)
            for version in (1, 2):
                a[:], b[:] = version, 10 * version
                job.checkpoint("app", version)
            a[:], b[:] = 0, 0
            self.assertEqual(job.restore("app", 1, ["b"]), 1)
            self.assertEqual((a.tolist(), b.tolist()), ([0] * 3, [10] * 3))
            self.assertEqual(job.restore("app", regions=[5, "a"]), 2)
            self.assertEqual((a.tolist(), b.tolist()), ([2] * 3, [20] * 3))
            self.assertEqual(job.restore("app", regions=[]), 2)
            with self.assertRaisesRegex(perdure.Mismatch, "'c', 6: not protected; there is a, b"):
                job.restore("app", regions=["c", "a", 6])
            with self.assertRaisesRegex(perdure.Mismatch, "its versions are 1, 2"):
                job.restore("app", 3)

    def test_goes_back_and_takes_what_it_left_by_its_branch(self):
        a = numpy.zeros(3)
        with self.job() as job:
            self.assertIsNone(job.restored)
            job.protect("a", a)
            for version in (1, 2, 3):
                a[:] = version
                job.checkpoint("app", version)
            self.assertEqual(job.restore("app", 1), 1)
            restored = job.restored
            self.assertEqual((restored.name, restored.version, restored.passed_over), ("app", 1, ()))
            self.assertGreaterEqual(restored.age_s, 0)
            a[:] = 20
            job.checkpoint("app", 2)
            self.assertEqual(job.restore("app"), 2)
            self.assertEqual(a[0], 20)
            self.assertNotEqual(job.restored.branch, restored.branch)
            with self.assertRaisesRegex(perdure.Mismatch, f"app@{restored.branch}:3"):
                job.restore("app", 3)
            self.assertEqual(job.restore_branch("app", restored.branch, 3), 3)
            self.assertEqual(a[0], 3)
            for wrong in ("", "3F9A12", None):
                with self.assertRaises(perdure.InvalidArgument):
                    job.restore_branch("app", wrong)

    def test_says_which_damaged_version_it_passed_over(self):
        a = numpy.zeros(1000)
        with self.job() as job:
            job.protect("a", a)
            for version in (1, 2, 3):
                a[:] = version
                job.checkpoint("app", version)
        for segment in (self.place / "store" / "app" / "3").iterdir():
            with segment.open("r+b") as file:
                file.seek(5000)
                file.write(b"damage")
        with self.job() as job:
            job.protect("a", a)
            self.assertEqual(job.restore("app"), 2)
            self.assertEqual(a.tolist(), [2] * 1000)
            restored = job.restored
            self.assertEqual([passed.version for passed in restored.passed_over], [3])
            self.assertGreater(restored.passed_over[0].created_ns, restored.created_ns)
            self.assertTrue(restored.passed_over[0].why)

    def test_asks_for_the_latest_of_other_ranks_before_anything_is_protected(self):
        def write(comm, rank):
            with self.job(comm) as job:
                job.protect_block("field", numpy.arange(10.0)[job.block((10,))].copy(), (10,))
                job.checkpoint("arrays", 3)
                job.protect("own", numpy.zeros(2))
                job.checkpoint("own", 1)

        def ask(comm, rank):
            with self.job(comm) as job:
                self.assertEqual(job.latest("arrays"), 3)
                with self.assertRaisesRegex(perdure.Mismatch, "by 2 ranks, this run has 3, and .*'own'.* of one rank"):
                    job.latest("own")
                size = job.stored_array("arrays", "field").shape
                field = numpy.zeros([part.stop - part.start for part in job.block(size)])
                job.protect_block("field", field, size)
                self.assertEqual(job.restore("arrays"), 3)
                self.assertEqual(field.tolist(), numpy.arange(10.0)[job.block(size)].tolist())

        self.run_ranks(2, write)
        self.run_ranks(3, ask)

    def test_tells_what_is_stored_before_it_is_restored(self):
        with self.job() as job:
            job.protect("own", numpy.zeros(7, "i2"))
            job.protect_list("bodies", numpy.zeros(3, BODY), unit="m")
            job.checkpoint("app", 1)
        with self.job() as job:
            self.assertEqual(job.stored_size("app", "own"), (2, 7))
            stored = job.stored_array("app", "bodies")
            self.assertEqual(stored, perdure.StoredArray("bodies", "m", "{position:3f8,id:i4,v4}", BODY, (3,)))
            for call in (job.stored_array, job.stored_size):
                with self.assertRaises(perdure.Mismatch):
                    call("app", "other")
                with self.assertRaises(perdure.Mismatch):
                    call("app", "own", 2)
                with self.assertRaises(perdure.NotFound):
                    call("other", "own")
            part = numpy.zeros(7, "i2")
            job.restore_part("app", 0, "own", part)
            with self.assertRaises(perdure.Mismatch):
                job.restore_part("app", 0, "own", numpy.zeros(8, "i2"))
            for wrong in ([1, 2], numpy.zeros(14, "i2")[::2], numpy.zeros(7, object), numpy.broadcast_to(numpy.int16(0), 7)):
                with self.assertRaises(perdure.InvalidArgument):
                    job.restore_part("app", 0, "own", wrong)
            for rank in (-1, 1, 2**40):
                with self.assertRaises(perdure.Error):
                    job.restore_part("app", rank, "own", part)

    def test_refuses_what_does_not_fit_and_touches_nothing(self):
        with self.job() as job:
            job.protect_replicated("a", numpy.arange(3.0))
            job.checkpoint("app", 1)
        for other in (numpy.full(4, -1.0), numpy.full(3, -1, "i8"), numpy.full((3, 1), -1.0)):
            with self.job() as job:
                job.protect_replicated("a", other)
                with self.assertRaises(perdure.Mismatch):
                    job.restore("app")
                self.assertTrue((other == -1).all())

    def test_fills_ghosts_within_the_array_where_that_is_asked_for(self):
        def parts():
            return numpy.full((4, 5), -1.0), numpy.full((4, 5), -1.0)

        upper, lower = parts()
        shape = (4, 3)

        def protect(job):
            job.protect_global("field", shape, [((0, 0), upper), ((2, 0), lower)], ghosts=(1, 1), fill_ghosts=True)

        with self.job() as job:
            protect(job)
            upper[1:-1, 1:-1], lower[1:-1, 1:-1] = numpy.arange(6).reshape(2, 3), numpy.arange(6, 12).reshape(2, 3)
            job.checkpoint("app", 1)
            upper[...], lower[...] = parts()
            job.restore("app")
        self.assertEqual(upper[3].tolist(), [-1, 6, 7, 8, -1])
        self.assertEqual(lower[0].tolist(), [-1, 3, 4, 5, -1])

    def test_of_negative_strides_is_as_the_array_is_seen(self):
        memory = numpy.zeros((3, 4))
        with self.job() as job:
            job.protect_block("turned", memory[::-1, ::-1], (3, 4))
            memory[...] = numpy.arange(12).reshape(3, 4)
            job.checkpoint("app", 1)
            memory[...] = 0
            job.restore("app")
            self.assertEqual(memory.ravel().tolist(), list(range(12)))
        with perdure.Store(self.store).open("app") as checkpoint:
            self.assertTrue(numpy.array_equal(checkpoint["turned"], memory[::-1, ::-1]))

    def test_of_empty_arrays_and_scalars(self):
        arrays = {"none": numpy.empty(0), "rows": numpy.empty((0, 3)), "scalar": numpy.array(2.5), "block": numpy.empty((0, 4))}
        with self.job() as job:
            job.protect("none", arrays["none"])
            job.protect("scalar", arrays["scalar"])
            job.protect_list("rows", arrays["rows"])
            job.protect_block("block", arrays["block"], (0, 4))
            job.protect_global("empty", (0, 2), [((0, 0), numpy.empty((0, 2)))])
            job.checkpoint("app", 1)
            arrays["scalar"][...] = 0
            self.assertEqual(job.restore("app"), 1)
            self.assertEqual(arrays["scalar"], 2.5)


class Protecting(Jobs):
    def test_refuses_memory_that_cannot_be_filled(self):
        constant = numpy.zeros(3)
        constant.flags.writeable = False
        protects = {
            "protect": self.alone.protect,
            "block": lambda name, array: self.alone.protect_block(name, array, (3,)),
            "global": lambda name, array: self.alone.protect_global(name, (3,), [((0,), array)]),
            "list": self.alone.protect_list,
            "replicated": self.alone.protect_replicated,
        }
        for kind, protect in protects.items():
            for array, why in ((constant, "not writable"), ([1, 2, 3], "list, not a numpy array"),
                               (numpy.zeros(3, object), "objects"), (numpy.ma.zeros(3), "its data and its mask"),
                               (3.0, "float, not a numpy array")):
                with self.subTest(kind), self.assertRaisesRegex(ValueError, why):
                    protect("a", array)
            if kind != "protect":
                for array, why in ((numpy.zeros(3, ">f8"), "byte order"), (numpy.zeros(3, "U3"), "no type of an element")):
                    with self.subTest(kind), self.assertRaisesRegex(ValueError, why):
                        protect("a", array)
            with self.assertRaisesRegex(ValueError, "one element in several places"):
                protect("a", numpy.lib.stride_tricks.as_strided(numpy.zeros(1), (3,), (0,)))
            if kind not in ("block", "global"):
                with self.assertRaisesRegex(ValueError, "gaps|C-contiguous"):
                    protect("a", numpy.zeros(6)[::2])
        self.assertIn("0 arrays", repr(self.alone))
        with self.assertRaises(perdure.NotFound):
            self.alone.unprotect("a")

    def test_refuses_shapes_that_do_not_fit(self):
        a = numpy.zeros((3, 4))
        job = self.alone
        for shape, more, why in (((3, 5), {}, r"shape \(3, 4\).*of \(3, 5\)"), ((3, 4), {"ghosts": 1}, r"of \(5, 6\)"),
                                 ((12,), {}, r"of \(12,\)"), ((3, 4), {"ghosts": (1,)}, "not as many as dimensions"),
                                 ((3, -4), {}, "not from 0"), ((3, 4.5), {}, "no integers"), ((3, 4), {"grid": (2, 1)}, "grid"),
                                 ((3, 4), {"grid": (1,)}, "grid"), ((2**63, 2**63), {}, "region"), ((1,) * 9, {}, "9 dimensions"),
                                 ((3, 4), {"ghosts": 2**63}, "wider"), ((), {}, "scalar")):
            with self.subTest(str((shape, more))), self.assertRaisesRegex(perdure.InvalidArgument, why):
                job.protect_block("a", a, shape, **more)
        for boxes, why in (([((2, 0), a)], "not within"), ([((0,), a)], "dimensions"), ([((0, 0), numpy.zeros(3))], "no part"),
                           ([((-1, 0), a)], "not from 0"), ([], "pass dtype="), ([((2**64 - 1, 0), a)], "not from 0"),
                           ([((0, 0), a), ((0, 0), numpy.zeros((1, 1), "f4"))], "float32")):
            with self.subTest(str(boxes)), self.assertRaisesRegex(perdure.InvalidArgument, why):
                job.protect_global("a", (4, 4), boxes)
        with self.assertRaisesRegex(perdure.InvalidArgument, "no room for ghosts"):
            job.protect_global("a", (4, 4), [((0, 0), numpy.zeros((1, 4)))], ghosts=1)
        with self.assertRaisesRegex(perdure.InvalidArgument, "at least one dimension"):
            job.protect_list("a", numpy.zeros(()))
        for name in ("", "1a", "a b", "a" * 65, "a\0b", None, 5):
            with self.subTest(repr(name)), self.assertRaises(perdure.InvalidArgument):
                job.protect(name, a)
        self.assertIn("0 arrays", repr(job), "nothing refused is registered")
        job.protect("a", a)  # nor does the library hold the memory

    def test_gives_ids_of_names_that_are_the_same_in_every_program(self):
        self.alone.protect("temperature", numpy.zeros(1))
        self.alone.checkpoint("app", 1)
        self.alone.wait("app", 1)
        with perdure.Store(self.store).open("app") as checkpoint:
            self.assertEqual(checkpoint["temperature"].id, perdure.job._id_of_name("temperature"))
        self.assertEqual(perdure.job._id_of_name("a"), 0xCA978112 & 0x7FFFFFFF, "the SHA-256 of 'a' begins so")

    def test_refuses_an_id_of_another_name(self):
        job = self.alone
        first, second = numpy.zeros(1), numpy.zeros(1)
        job.protect("first", first, id=perdure.job._id_of_name("second"))
        with self.assertRaisesRegex(perdure.InvalidArgument, "id .* is that of 'first'; pass another one, id="):
            job.protect("second", second)
        job.protect("second", second, id=1)
        with self.assertRaisesRegex(perdure.InvalidArgument, "protected as 1, not as 2"):
            job.protect("second", second, id=2)
        job.protect("second", second, id=1)
        for wrong in (-1, 2**31):
            with self.assertRaisesRegex(perdure.InvalidArgument, "not from 0"):
                job.protect("third", numpy.zeros(1), id=wrong)

    def test_keeps_arrays_alive_until_they_are_unprotected_or_replaced(self):
        job = self.alone
        protects = {"own": job.protect, "rows": job.protect_list, "values": job.protect_replicated,
                    "block": lambda name, array: job.protect_block(name, array, (4,)),
                    "boxes": lambda name, array: job.protect_global(name, (4,), [((0,), array)])}
        for name, protect in protects.items():
            array = numpy.zeros(4)
            alive = weakref.ref(array)
            protect(name, array)
            del array
            gc.collect()
            self.assertIsNotNone(alive(), name)
            with self.assertRaises(ValueError, msg="numpy does not resize what others look at"):
                alive().resize(1000)
            protect(name, numpy.ones(4))
            self.assertIsNone(alive(), name)
            newer = weakref.ref(job._protected[name].memory[0][1] if name == "boxes" else job._protected[name].memory)
            with self.assertRaises(perdure.InvalidArgument):
                protect(name, numpy.zeros(4, object))
            self.assertIsNotNone(newer(), "what is refused replaces nothing")
            job.unprotect(name)
            self.assertIsNone(newer(), name)

    def test_refuses_overlapping_memory(self):
        a = numpy.zeros(10)
        self.alone.protect("a", a)
        with self.assertRaises(perdure.InvalidArgument):
            self.alone.protect("b", a[3:5])
        self.assertNotIn("b", self.alone._protected)


class Blocks(Jobs):
    def test_are_slices_of_the_whole_array(self):
        self.assertEqual(self.alone.block((10, 4)), (slice(0, 10), slice(0, 4)))
        self.assertEqual(self.alone.block((10, 4), grid=(1, 1)), (slice(0, 10), slice(0, 4)))
        self.assertEqual(self.alone.block(7), (slice(0, 7),))
        whole = numpy.arange(40).reshape(10, 4)
        self.assertEqual(whole[self.alone.block(whole.shape)].shape, (10, 4))
        for shape, grid in (((), None), ((4,), (2,)), ((4, 4), (1,)), ((-1,), None)):
            with self.assertRaises(perdure.InvalidArgument):
                self.alone.block(shape, grid)


class Levels(Jobs):
    def test_and_progress_and_reports_and_retiring(self):
        job = self.alone
        job.protect("a", numpy.zeros(1000))
        job.checkpoint("app", 1)
        self.assertGreaterEqual(job.level_reached("app", 1), perdure.Level.PROCESS)
        job.wait("app", 1)
        self.assertEqual(job.level_reached("app", 1), perdure.Level.STORE)
        job.wait("app", 1, perdure.Level.PROCESS, timeout=60)
        progress = job.progress
        self.assertEqual((progress.last_bytes, progress.restored_version, progress.versions_failed), (8000, -1, 0))
        self.assertGreater(progress.last_blocking_s, 0)
        self.assertEqual(list(job.reports()), [])
        for wrong in (9, 0, -1, 2**40):
            with self.assertRaises(perdure.InvalidArgument):
                job.wait("app", 1, wrong)
        for wrong in (math.nan, -1, -0.5):
            with self.assertRaises(perdure.InvalidArgument):
                job.wait("app", 1, timeout=wrong)
        with self.assertRaises(perdure.NotFound):
            job.wait("app", 7)
        with self.assertRaises(perdure.Exists):
            job.checkpoint("app", 1)
        assert job.any(True) is True and job.any(False) is False
        assert not job.due()
        job.retire("app", 1)
        self.assertIsNone(job.latest("app"))

    def test_reports_are_given_once(self):
        with self.job(flush__give_up_after=0.01, flush__retry_initial=0.01, node__path=self.place / "other",
                      engine__drain_timeout=0, store__path=self.place / "late") as job:
            job.protect("a", numpy.zeros(10))
            job.checkpoint("app", 1)
            job.wait("app", 1)
            shutil.rmtree(self.place / "late")
            (self.place / "late").touch()  # in the way of the store
            job.checkpoint("app", 2)
            with self.assertRaises(perdure.Error):
                job.wait("app", 2)
            told = list(job.reports())
            self.assertTrue(told)
            self.assertTrue(all(told))
            self.assertEqual(list(job.reports()), [])
            with self.assertRaises(perdure.Error) as caught:
                job.close()
            self.assertIn("app", str(caught.exception), "what stays behind")
            self.assertIn("closed", repr(job))


class Arguments(Jobs):
    def test_of_checkpoints_that_cannot_be_are_refused(self):
        job = self.alone
        job.protect("a", numpy.zeros(1))
        for name, version in (("", 1), ("../up", 1), ("a\0b", 1), ("a" * 129, 1), ("app", -1), ("app", 2**63), ("app", -(2**70))):
            with self.subTest((name, version)), self.assertRaises(perdure.InvalidArgument):
                job.checkpoint(name, version)
        with self.assertRaises(TypeError):
            job.checkpoint("app", 1.5)
        self.assertIsNone(job.latest("app"))

    def test_of_options(self):
        for options, why in (({"store.path": "a;b"}, "semicolon"), ({"store.path": "a\nb"}, "line's end"),
                             ({"a=b": 1}, "would end it"), ({"job": None}, "None is no value"), ({"job": 'a"b'}, "quote"),
                             ({"no.such": 1}, "no.such"), ({"job": "a\0b"}, "ends a text"), ("no.such=1", "no.such"),
                             ({"tier.order": ["memory", "a;b"]}, "semicolon")):
            with self.subTest(str(options)), self.assertRaisesRegex(perdure.InvalidArgument, why):
                perdure.Job(options=options)
        text = "\n".join(f"{key}={value}" for key, value in {**self.options, "node.path": self.place / "n2"}.items())
        with perdure.Job(options=text) as job:
            self.assertEqual((job.rank, job.size), (0, 1))
        with self.job(tier__order=["memory", "file"], tier__memory__prefault=False, node__path=self.place / "n3"):
            pass

    def test_of_communicators_that_are_none(self):
        for wrong in (5, object(), numpy.zeros(3)):
            with self.assertRaisesRegex(perdure.InvalidArgument, "Get_rank"):
                perdure.Job(wrong, self.options)


class Closing(PlaceCase):
    def test_makes_every_call_an_error(self):
        job = self.job()
        array = numpy.zeros(1)
        kept = weakref.ref(array)
        job.protect("a", array)
        job.close()
        job.close()
        del array
        self.assertIsNone(kept(), "a closed job keeps nothing")
        self.assertIn("closed", repr(job))
        for call in (lambda: job.protect("a", numpy.zeros(1)), lambda: job.protect_list("a", numpy.zeros(1)),
                     lambda: job.protect_block("a", numpy.zeros(1), (1,)), lambda: job.block((1,)),
                     lambda: job.checkpoint("app", 1), lambda: job.restore("app"), lambda: job.latest("app"),
                     lambda: job.stored_array("app", 1), lambda: job.restore_part("app", 0, 1, numpy.zeros(1)),
                     lambda: job.wait("app", 1), lambda: job.level_reached("app", 1), lambda: job.progress,
                     lambda: list(job.reports()), lambda: job.retire("app", 1)):
            with self.assertRaises(perdure.Closed) as caught:
                call()
            self.assertEqual(caught.exception.status, perdure.Status.CLOSED)

    def test_happens_when_a_job_is_forgotten(self):
        gc.disable()
        self.addCleanup(gc.enable)
        job = self.job()
        job.protect("a", numpy.zeros(1))
        job.checkpoint("app", 1)
        with self.assertWarnsRegex(ResourceWarning, "was not closed"):
            del job
        self.assertEqual([v.version for v in perdure.Store(self.store).versions("app")], [1], "what was captured is stored")

    def test_after_an_exception_hides_nothing(self):
        with self.assertRaises(ZeroDivisionError):
            with self.job() as job:
                1 / 0
        self.assertIn("closed", repr(job))
        with self.assertWarnsRegex(RuntimeWarning, "closing the job failed"), self.assertRaises(ZeroDivisionError):
            with self.job() as job:
                job._failure_of = lambda status, handle: perdure.errors.error_of(8, "what stays behind")
                1 / 0

    def test_is_refused_in_a_forked_child_which_disturbs_nobody(self):
        array = numpy.arange(3.0)
        with self.job() as job:
            job.protect("a", array)
            # Another thread of the parent has the lock, as within a call, when the child is made.
            held, done = threading.Event(), threading.Event()

            def hold():
                with job._lock:
                    held.set()
                    done.wait()

            holder = threading.Thread(target=hold)
            holder.start()
            held.wait()
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                wrong = 0
                for call in (lambda: job.checkpoint("app", 1), lambda: job.protect("b", numpy.zeros(1)), lambda: job.close(),
                             lambda: job.progress, lambda: job.restore("app"), lambda: job.unprotect("a")):
                    try:
                        call()
                        wrong += 1
                    except perdure.WrongProcess:
                        pass
                    except BaseException:
                        wrong += 1
                job.__del__()
                os._exit(wrong)
            done.set()
            holder.join()
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            job.checkpoint("app", 1)
            array[:] = 0
            job.restore("app")
        self.assertEqual(array.tolist(), [0, 1, 2])


class Errors(unittest.TestCase):
    def test_are_of_the_kind_of_their_status_and_of_the_builtin_one(self):
        for status, builtin in ((1, ValueError), (2, LookupError), (3, FileExistsError), (6, OSError), (7, OSError),
                                (8, PermissionError), (10, TimeoutError), (11, ValueError), (13, NotImplementedError)):
            error = perdure.errors.error_of(status, "object: cause", True)
            self.assertIsInstance(error, builtin)
            self.assertIsInstance(error, perdure.Error)
            self.assertEqual(str(error), "object: cause")
            for one in (error, pickle.loads(pickle.dumps(error))):
                self.assertIs(type(one), type(error))
                self.assertEqual((one.status, one.text, one.retryable), (status, "object: cause", True))


if __name__ == "__main__":
    unittest.main()
