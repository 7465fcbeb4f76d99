"""Owners give other arrays between two checkpoints. This runs the table of tests/spine/moved_memory_test.cpp in Python.
Owners are functions, dicts and objects there, and are read at each checkpoint and restore."""

import gc
import unittest
import weakref

import numpy

import perdure
from support import PlaceCase


class Model:
    """An owner of arrays."""

    def __init__(self):
        self.w = numpy.zeros(1000)
        self.v = numpy.zeros(1000)
        self.block = numpy.zeros(12)
        self.rows = numpy.zeros((4, 3))
        self.constants = numpy.zeros(5)
        self.boxes = [((0,), numpy.zeros(10))]

    def arrays(self):
        return [self.w, self.v, self.block, self.rows, self.constants, self.boxes[0][1]]

    def fill(self, value):
        for number, array in enumerate(self.arrays()):
            array[...] = numpy.arange(array.size).reshape(array.shape) + value + 10000 * number

    def contents(self):
        self.block[[0, -1]] = 0  # ghosts are not stored
        return [array.copy() for array in self.arrays()]

    def protect(self, job, rank=0):
        job.protect_attributes(self, ["w", "v"])
        job.protect_block("block", lambda: self.block, (10 * job.size,), ghosts=1)
        job.protect_list("rows", lambda: self.rows)
        job.protect_replicated("constants", lambda: self.constants)
        begin = 10 * rank
        job.protect_global("boxes", (10 * job.size,), lambda: [((begin,), self.boxes[0][1])])


def rebind(name, value):
    return lambda model: setattr(model, name, value(model))


def swap(model):
    model.w, model.v = model.v, model.w


def remove(model):
    del model.w


# The change of a model, and the checkpoint's error; None: it succeeds.
TABLE = (
    ("nothing", lambda model: None, None),
    ("rebound", rebind("w", lambda model: model.w + 1), None),
    ("swapped", swap, None),
    ("resized", rebind("w", lambda model: numpy.zeros(100_000)), None),
    ("shrunk", rebind("w", lambda model: numpy.zeros(3)), None),
    ("cleared", rebind("w", lambda model: numpy.empty(0)), None),
    ("of another shape and type", rebind("w", lambda model: numpy.zeros((4, 5), "f4", order="F")), None),
    ("block rebound", rebind("block", lambda model: model.block * 2), None),
    ("block of gaps", rebind("block", lambda model: numpy.zeros(24)[::2]), None),
    ("rows added", rebind("rows", lambda model: numpy.zeros((40, 3))), None),
    ("no rows", rebind("rows", lambda model: numpy.zeros((0, 3))), None),
    ("constants rebound", rebind("constants", lambda model: model.constants + 1), None),
    ("boxes rebound", rebind("boxes", lambda model: [((0,), numpy.zeros(10))]), None),
    ("removed", remove, "region .* 'w': its owner does not have it: AttributeError"),
    ("no array", rebind("w", lambda model: [1, 2, 3]), "region .* 'w': it is list, not a numpy array"),
    ("no boxes", rebind("boxes", lambda model: [3]), "region .* 'boxes': its owner does not have it: TypeError"),
    ("with gaps", rebind("w", lambda model: numpy.zeros(20)[::2]), "region .* 'w': it has gaps"),
    ("block resized", rebind("block", lambda model: numpy.zeros(13)), r"region .* 'block': it is of shape \(13,\)"),
    ("block of another type", rebind("block", lambda model: numpy.zeros(12, "f4")), "region .* 'block': its owner has an"),
    ("columns added", rebind("rows", lambda model: numpy.zeros((4, 4))), "region .* 'rows': its owner has another size"),
    ("constants resized", rebind("constants", lambda model: numpy.zeros(6)), "region .* 'constants': its owner has another"),
    ("box resized", rebind("boxes", lambda model: [((0,), numpy.zeros(9))]), "region .* 'boxes': its owner has another"),
)


class MovedMemory(PlaceCase):
    def test_is_read_at_the_call_or_refused_by_name_on_all_ranks(self):
        for what, change, told in TABLE:
            with self.subTest(what):
                self.run_ranks(2, lambda comm, rank: self.live(comm, rank, what.replace(" ", "_"), change, told))

    def live(self, comm, rank, name, change, told):
        with self.job(comm) as job:
            model = Model()
            model.protect(job, rank)
            model.fill(1)
            model.constants[...] = 1
            job.checkpoint(name, 1)
            if told is None or rank == 1:
                change(model)
            if told is not None:
                for call in (lambda: job.checkpoint(name, 2), lambda: job.restore(name), lambda: job.restore(name, 1, ["v"])):
                    if rank == 1:
                        with self.assertRaisesRegex(perdure.InvalidArgument, told):
                            call()
                    else:
                        with self.assertRaisesRegex(perdure.PeerFailed, "rank 1"):
                            call()
                model.__init__()
            model.fill(2)
            model.constants[...] = 2
            job.checkpoint(name, 2)
            expected = model.contents()
            for array in model.arrays():
                array[...] = 0
            self.assertEqual(job.restore(name), 2)
            for array, was in zip(model.arrays(), expected):
                self.assertTrue(numpy.array_equal(array, was))
                self.assertEqual(array.dtype, was.dtype)

    def test_of_a_dict_is_what_the_dict_has(self):
        state = {"w": numpy.full(3, 1.0), "b": numpy.full(2, 2.0)}
        with self.job() as job:
            job.protect_items(state, prefix="layer.")
            state["w"] = state["w"] + 1
            state["b"], state["w"] = state["w"], state["b"]
            state["more"] = numpy.full(4, 5)
            job.checkpoint("run", 1)
            del state["b"]
            job.checkpoint("run", 2)
            state["w"] = numpy.zeros(2)
            job.restore("run")
            self.assertEqual(state["w"].tolist(), [2, 2])
            with self.assertRaisesRegex(perdure.Mismatch, "'layer.b' is stored and not protected"):
                job.restore("run", 1)
            state["b"] = numpy.zeros(3)
            job.restore("run", 1)
            self.assertEqual((state["w"].tolist(), state["b"].tolist()), ([2, 2], [2, 2, 2]))
            self.assertEqual(state["more"].tolist(), [5] * 4)
        with perdure.Store(self.store).open("run", 1) as checkpoint:
            self.assertEqual(sorted(region.name for region in checkpoint.regions), ["layer.b", "layer.more", "layer.w"])

    def test_of_chosen_keys_has_to_be_there(self):
        state = {"w": numpy.zeros(3), "epoch": 5}
        with self.job() as job:
            with self.assertRaisesRegex(perdure.InvalidArgument, "'epoch': it is int, not a numpy array"):
                job.protect_items(state)
            self.assertIn("0 arrays", repr(job))
            job.protect_items(state, ["w"])
            state["other"] = numpy.zeros(1)
            job.checkpoint("run", 1)
            w = state.pop("w")
            with self.assertRaisesRegex(perdure.InvalidArgument, "'w': its owner does not have it: KeyError: 'w'") as caught:
                job.checkpoint("run", 2)
            self.assertIsInstance(caught.exception.__cause__, KeyError)
            state["w"] = w
            job.checkpoint("run", 2)
            self.assertIn("1 arrays", repr(job))

    def test_that_was_unprotected_or_replaced_is_left_out(self):
        state = {"w": numpy.zeros(3), "b": numpy.zeros(2), "c": numpy.zeros(1)}
        with self.job() as job:
            job.protect_items(state)
            job.unprotect("w")
            own = numpy.full(5, 7.0)
            job.protect("b", own)
            del state["b"]
            job.checkpoint("run", 1)
            self.assertEqual(job.stored_size("run", "b"), (8, 5))
            with self.assertRaises(perdure.Mismatch):
                job.stored_size("run", "w")
            job.protect_items(state)  # again, and all of it
            job.checkpoint("run", 2)
            self.assertEqual(job.stored_size("run", "w"), (8, 3))

    def test_of_keys_that_are_no_names_is_refused(self):
        with self.job() as job:
            for key, why in ((5, "has to be a text"), ("0.weight", "name")):
                with self.assertRaisesRegex(perdure.InvalidArgument, why):
                    job.protect_items({key: numpy.zeros(1)})
            state = {"w": numpy.zeros(1)}
            job.protect_items(state)
            state[5] = numpy.zeros(1)
            with self.assertRaisesRegex(perdure.InvalidArgument, "key 5"):
                job.checkpoint("run", 1)
            del state[5]
            state["same"] = state["w"]
            with self.assertRaisesRegex(perdure.InvalidArgument, "its memory overlaps region .* 'w'"):
                job.checkpoint("run", 1)
            state["w"] = numpy.ones(1)
            job.checkpoint("run", 1)

    def test_is_registered_again_after_it_was_refused(self):
        state = {"a": numpy.full(3, 1.0), "b": numpy.full(3, 2.0)}
        with self.job() as job:
            job.protect_items(state)
            job.checkpoint("run", 1)
            state["a"] = state["b"]
            with self.assertRaisesRegex(perdure.InvalidArgument, "overlaps"):
                job.checkpoint("run", 2)
            state["a"] = numpy.full(3, 3.0)
            job.checkpoint("run", 2)
            state["a"][:], state["b"][:] = 0, 0
            job.restore("run")
            self.assertEqual((state["a"].tolist(), state["b"].tolist()), ([3] * 3, [2] * 3))
            self.assertTrue(job.was_restored("a"))

    def test_stays_optional_described_and_alive(self):
        model = Model()
        with self.job() as job:
            job.protect("w", lambda: model.w, unit="m", description="of the model", optional=True)
            first = weakref.ref(model.w)
            model.w = numpy.full(7, 1.5)
            gc.collect()
            self.assertIsNotNone(first(), "the library has its address")
            job.checkpoint("run", 1)
            gc.collect()
            self.assertIsNone(first())
            job.wait("run", 1)
            with perdure.Store(self.store).open("run") as checkpoint:
                self.assertEqual((checkpoint["w"].unit, checkpoint["w"].description), ("m", "of the model"))
        with self.job() as job:
            job.protect("w", lambda: model.w, optional=True)
            job.protect("x", lambda: model.v, optional=True)
            model.w, model.v = numpy.zeros(7), numpy.ones(3)
            job.restore("run")
            self.assertEqual((job.was_restored("w"), job.was_restored("x")), (True, False))
            self.assertEqual(model.w.tolist(), [1.5] * 7)

    def test_whose_owner_calls_the_job_is_refused(self):
        with self.job() as job:
            array = numpy.zeros(3)
            calls = []

            def owner():
                if calls:
                    job.checkpoint("inner", 1)
                return array

            job.protect("w", owner)
            calls.append(1)
            with self.assertRaisesRegex(perdure.Busy, "within one of its calls"):
                job.checkpoint("run", 1)
            calls.clear()
            job.checkpoint("run", 1)

    def test_whose_owner_is_interrupted_is_an_error_of_all_ranks(self):
        for interrupt in (KeyboardInterrupt, SystemExit):
            with self.subTest(interrupt.__name__):
                self.run_ranks(2, lambda comm, rank: self.interrupted(comm, rank, interrupt))

    def interrupted(self, comm, rank, interrupt):
        with self.job(comm) as job:
            array = numpy.zeros(3)
            interrupts = []

            def owner():
                if interrupts:
                    raise interrupts.pop()
                return array

            job.protect("w", owner)
            if rank == 1:
                interrupts.append(interrupt())
            with self.assertRaises(interrupt if rank == 1 else perdure.PeerFailed):
                job.checkpoint(interrupt.__name__, 1)
            job.checkpoint(interrupt.__name__, 1)

    def test_that_is_refused_is_named_once_by_the_library(self):
        state = {"w": numpy.zeros(3)}
        with self.job() as job:
            job.protect_items(state, ["w"])
            call, told = job._call, []

            def listens(function, *arguments):
                try:
                    call(function, *arguments)
                except perdure.Error as error:
                    told.append(error.text)
                    raise

            job._call = listens
            state.clear()
            with self.assertRaises(perdure.InvalidArgument):
                job.checkpoint("run", 1)
            self.assertRegex(told[-1], r"^region [1-9]\d+ 'w': its owner does not have it: KeyError: 'w' \(invalid-argument\)$")
            state["w"] = [1]
            with self.assertRaises(perdure.InvalidArgument):
                job.checkpoint("run", 1)
            self.assertRegex(told[-1], r"^region [1-9]\d+ 'w': it is list")

    def test_is_filled_by_the_restore_of_a_branch(self):
        state = {"w": numpy.full(3, 1.0)}
        with self.job() as job:
            job.protect_items(state)
            job.checkpoint("run", 1)
            job.restore("run")
            branch = job.restored.branch
            old, state["w"] = state["w"], numpy.zeros(3)
            old[:] = 0
            self.assertEqual(job.restore_branch("run", branch, 1), 1)
            self.assertEqual((state["w"].tolist(), old.tolist()), ([1] * 3, [0] * 3))

    def test_that_is_none_at_all_is_refused(self):
        with self.job() as job:
            boxes = [((0,), numpy.zeros(3))]
            job.protect_global("field", (3,), lambda: boxes)
            boxes[:] = [3]
            with self.assertRaisesRegex(perdure.InvalidArgument, "arrays: what their owners have is none: TypeError"):
                job.checkpoint("run", 1)
            boxes[:] = [((0,), numpy.full(3, 2.0))]
            job.checkpoint("run", 1)
            boxes[0][1][:] = 0
            job.restore("run")
            self.assertEqual(boxes[0][1].tolist(), [2] * 3)

    def test_of_attributes_is_all_or_none(self):
        model = Model()
        with self.job() as job:
            with self.assertRaisesRegex(perdure.InvalidArgument, "'m.none': its owner does not have it"):
                job.protect_attributes(model, ["w", "none"], prefix="m.")
            self.assertIn("0 arrays", repr(job))
            job.protect_attributes(model, ["w"], prefix="m.")
            self.assertIn("1 arrays", repr(job))


if __name__ == "__main__":
    unittest.main()
