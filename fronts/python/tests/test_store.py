"""Reads a store: its versions, and their regions as arrays, without the program that wrote them."""

import datetime
import gc
import json
import os
import threading
import tracemalloc
import unittest
from pathlib import Path

import numpy

import perdure
from support import PlaceCase, flip_a_byte

try:
    import h5py
except ImportError:
    h5py = None

BODY = numpy.dtype({"names": ["position", "id"], "formats": [("f8", (3,)), "i4"], "offsets": [0, 24], "itemsize": 32})


class Written(PlaceCase):
    """Writes a version with regions of all kinds."""

    def setUp(self):
        super().setUp()
        self.field = numpy.arange(4 * 5 * 6, dtype="f8").reshape(4, 5, 6)
        self.bodies = numpy.zeros(7, BODY)
        self.bodies["id"] = numpy.arange(7)
        self.bodies["position"] = numpy.arange(21).reshape(7, 3)
        self.own = numpy.arange(9, dtype="i4")
        self.step = numpy.array(5)
        self.wave = numpy.array([1 + 2j, 3 - 4j], dtype="c8")
        self.mask = numpy.array([True, False, True])
        with self.job() as job:
            job.protect_block("field", self.field, (4, 5, 6), unit="K", description="of a plate")
            job.protect_list("bodies", self.bodies)
            job.protect("own", self.own, id=7, unit="m")
            job.protect_replicated("step", self.step)
            job.protect_replicated("wave", self.wave)
            job.protect_replicated("mask", self.mask)
            job.protect_list("nothing", numpy.empty((0, 3)))
            job.checkpoint("app", 1)
            self.field += 1000
            job.checkpoint("app", 2)
            self.field -= 1000

    def open(self, version=1):
        checkpoint = perdure.Store(self.store).open("app", version)
        self.addCleanup(checkpoint.close)
        return checkpoint

    def segment(self, version):
        """Gives the file of a version, which one node wrote."""
        (file,) = Path(self.store, "app", str(version)).glob("*.pds")
        return file


class Versions(Written):
    def test_are_listed_with_what_is_known_of_them(self):
        first, second = perdure.Store(Path(self.store)).versions()
        self.assertEqual([(v.name, v.version, v.state, v.reason, v.ranks) for v in (first, second)],
                         [("app", 1, perdure.State.COMPLETE, "", 1), ("app", 2, perdure.State.COMPLETE, "", 1)])
        self.assertGreater(first.bytes, self.field.nbytes)
        age = datetime.datetime.now(datetime.timezone.utc) - first.created
        self.assertLess(abs(age), datetime.timedelta(days=1))
        self.assertLessEqual(first.created, second.created)
        self.assertEqual(perdure.Store(self.store).versions("app"), [first, second])

    def test_that_are_damaged_are_listed_with_the_reason(self):
        flip_a_byte(self.segment(2), 1)
        whole, damaged = perdure.Store(self.store).versions("app")
        self.assertEqual((whole.state, damaged.state), (perdure.State.COMPLETE, perdure.State.DAMAGED))
        self.assertNotEqual(damaged.reason, "")
        with self.assertRaises(perdure.Corrupt):
            perdure.Store(self.store).open("app", 2)

    def test_that_are_incomplete_are_listed_with_the_reason(self):
        def write(comm, rank):
            with self.job(comm, node__ranks_per_node=1) as job:
                job.protect("own", numpy.zeros(3))
                job.checkpoint("two", 4)

        self.run_ranks(2, write)
        self.assertEqual(perdure.Store(self.store).versions("two")[0].ranks, 2)
        next(Path(self.store, "two", "4").glob("0001-*.pds")).unlink()
        (version,) = perdure.Store(self.store).versions("two")
        self.assertEqual((version.version, version.state), (4, perdure.State.INCOMPLETE))
        self.assertNotEqual(version.reason, "")
        with self.assertRaises(perdure.Incomplete):
            perdure.Store(self.store).open("two", 4)

    def test_of_nothing_are_an_error(self):
        with self.assertRaisesRegex(perdure.NotFound, "other") as caught:
            perdure.Store(self.store).versions("other")
        self.assertIsInstance(caught.exception, LookupError)
        self.assertEqual(caught.exception.status, perdure.Status.NOT_FOUND)
        with self.assertRaises(perdure.NotFound):
            perdure.Store(self.place / "missing").versions()
        with self.assertRaisesRegex(perdure.InvalidArgument, "ends a text"):
            perdure.Store(self.store).versions("a\0pp")
        with self.assertRaises(perdure.InvalidArgument):
            perdure.Store("").versions()

    def test_whose_description_cannot_be_made_raise_what_went_wrong(self):
        original = perdure.store._stored_version
        self.addCleanup(setattr, perdure.store, "_stored_version", original)
        seen = []

        def broken(version):
            seen.append(version.version)
            raise ZeroDivisionError("in the visitor")

        perdure.store._stored_version = broken
        with self.assertRaisesRegex(ZeroDivisionError, "in the visitor"):
            perdure.Store(self.store).versions()
        self.assertEqual(seen, [1], "the first failure ends the listing")


class Checkpoints(Written):
    def test_are_mappings_of_their_regions(self):
        checkpoint = self.open()
        self.assertEqual((checkpoint.name, checkpoint.version, checkpoint.ranks, len(checkpoint)), ("app", 1, 1, 7))
        self.assertEqual(set(checkpoint), {"field", "bodies", "own", "step", "wave", "mask", "nothing"})
        self.assertIn("field", checkpoint)
        self.assertIn(7, checkpoint)
        self.assertIn(numpy.int64(7), checkpoint)
        self.assertNotIn("other", checkpoint)
        self.assertNotIn(8, checkpoint)
        self.assertIs(checkpoint[7], checkpoint["own"])
        self.assertEqual([region.id for region in checkpoint.regions], sorted(region.id for region in checkpoint.regions))
        with self.assertRaisesRegex(LookupError, "field"):
            checkpoint["feild"]
        for wrong in (1.5, None, True, b"field"):
            with self.assertRaises(perdure.InvalidArgument):
                checkpoint[wrong]

    def test_say_what_their_regions_are(self):
        checkpoint = self.open()
        field = checkpoint["field"]
        self.assertEqual((field.kind, field.type, field.dtype, field.shape, field.ndim, field.size, field.nbytes),
                         (perdure.Kind.ARRAY, "f8", numpy.dtype(float), (4, 5, 6), 3, 120, 960))
        self.assertEqual((field.unit, field.description, field.ranks, field.stored_bytes), ("K", "of a plate", 1, 960))
        self.assertIn("field", repr(field))
        own = checkpoint["own"]
        self.assertEqual((own.kind, own.id, own.type, own.shape, own.unit), (perdure.Kind.LOCAL, 7, "i4", (9,), "m"))
        self.assertEqual(checkpoint["bodies"].kind, perdure.Kind.LIST)
        self.assertEqual((checkpoint["step"].kind, checkpoint["step"].shape), (perdure.Kind.REPLICATED, ()))
        self.assertEqual(checkpoint["nothing"].shape, (0, 3))

    def test_are_the_newest_where_no_version_is_given(self):
        with perdure.Store(self.store).open("app") as checkpoint:
            self.assertEqual(checkpoint.version, 2)
            self.assertEqual(checkpoint["field"][0, 0, 0], 1000)

    def test_that_are_not_there_are_errors(self):
        store = perdure.Store(self.store)
        for name, version, kind in (("other", None, perdure.NotFound), ("app", 3, perdure.Mismatch),
                                    ("app", -5, perdure.InvalidArgument), ("app", 2**80, perdure.InvalidArgument),
                                    ("../app", 1, perdure.Error)):
            with self.assertRaises(kind), store.open(name, version):
                pass
        with self.assertRaises(TypeError):
            store.open("app", 1.5)

    def test_that_are_closed_are_errors_for_every_call(self):
        checkpoint = self.open()
        field = checkpoint["field"]
        with checkpoint:
            pass
        checkpoint.close()
        self.assertEqual(field.shape, (4, 5, 6))
        for call in (lambda: field[...], lambda: field.read(), lambda: checkpoint["field"], lambda: checkpoint.verify(),
                     lambda: checkpoint.local(0, 7), lambda: numpy.asarray(field), lambda: "field" in checkpoint,
                     lambda: checkpoint.export(self.place / "x.zarr")):
            with self.assertRaises(perdure.Closed) as caught:
                call()
            self.assertEqual(caught.exception.status, perdure.Status.CLOSED)

    def test_that_are_forgotten_are_closed_when_their_last_region_is(self):
        def closed():
            count = 0

            def counting(reader):
                nonlocal count
                count += 1
                return close(reader)

            close, perdure.store._Reader.close = perdure.store._Reader.close, counting
            self.addCleanup(setattr, perdure.store._Reader, "close", close)
            return lambda: count

        gc.disable()
        self.addCleanup(gc.enable)
        count = closed()
        field = perdure.Store(self.store).open("app", 1)["field"]
        self.assertEqual(field[0, 0, 1], 1)
        self.assertEqual(count(), 0)
        del field
        self.assertEqual(count(), 1, "no cycle keeps it")

    def test_belong_to_the_process_that_opened_them(self):
        checkpoint = self.open()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                checkpoint["field"][0, 0, 0]
            except perdure.WrongProcess:
                code = 0
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(checkpoint["field"][0, 0, 3], 3)

    def test_may_be_read_by_many_threads(self):
        checkpoint = self.open()
        wrong = []

        def read():
            for plane in range(4):
                if not numpy.array_equal(checkpoint["field"][plane], self.field[plane]):
                    wrong.append(plane)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Reading(Written):
    def test_indexes_as_numpy_does(self):
        field = self.open()["field"]
        s = numpy.s_
        for key in (s[...], s[:], s[0], s[-1], s[1, 2, 3], s[-4, -5, -6], s[1:3], s[:, 1:4, 2], s[..., 0], s[0, ..., 5], s[::2],
                    s[::-1], s[::-2, 1::3, -1::-4], s[3:1], s[3:1:-1, ::-1], s[10:], s[-2:, :-1], s[1, 2, 3, ...], s[()],
                    s[numpy.int8(2), 4:], s[:, :, ::100], s[2:2, 0], s[0, 0, ::-1]):
            with self.subTest(str(key)):
                got, wanted = field[key], self.field[key]
                self.assertEqual(type(got), type(wanted))
                self.assertEqual(got.shape, wanted.shape)
                self.assertEqual(got.dtype, wanted.dtype)
                self.assertTrue(numpy.array_equal(got, wanted))
        for key, kind in ((4, IndexError), (-5, IndexError), (s[0, 0, 0, 0], IndexError), (s[..., ...], IndexError),
                          (1.0, TypeError), (None, TypeError), ([0, 1], TypeError), (True, TypeError), ("x", TypeError),
                          (numpy.array([0, 1]), TypeError), (numpy.zeros((4, 5, 6), bool), TypeError), (s[::0], ValueError)):
            with self.subTest(str(key)), self.assertRaises(kind):
                field[key]

    def test_reads_no_more_than_the_box_that_covers_what_is_asked_for(self):
        field = self.open()["field"]
        asked = []
        read = field.read
        field.read = lambda begin, end: asked.append((begin, end)) or read(begin, end)
        field[1, ::-2, 2:5]
        self.assertEqual(asked, [((1, 0, 2), (2, 5, 5))])
        thin = field[0, 0, ::5]
        self.assertIsNone(thin.base, "what was skipped does not stay in memory")

    def test_gives_scalars_complex_numbers_truth_values_structures_and_nothing(self):
        checkpoint = self.open()
        self.assertEqual(checkpoint["step"][()], 5)
        self.assertEqual(checkpoint["step"][...].shape, ())
        self.assertEqual(checkpoint["step"].read().tolist(), 5)
        self.assertRaises(TypeError, len, checkpoint["step"])
        self.assertTrue(numpy.array_equal(checkpoint["wave"][:], self.wave))
        self.assertEqual(checkpoint["wave"].dtype, numpy.dtype("c8"))
        self.assertEqual(checkpoint["mask"][:].tolist(), [True, False, True])
        bodies = checkpoint["bodies"]
        self.assertEqual(bodies.dtype, BODY)
        self.assertEqual(bodies[:].tobytes(), self.bodies.tobytes(), "bit for bit")
        self.assertEqual(bodies[-1]["id"], 6)
        self.assertEqual(bodies[2:4]["position"].tolist(), [[6, 7, 8], [9, 10, 11]])
        self.assertEqual(checkpoint["nothing"][...].shape, (0, 3))
        self.assertEqual(checkpoint["nothing"][:, 1].shape, (0,))

    def test_gives_arrays_to_numpy(self):
        field = self.open()["field"]
        self.assertTrue(numpy.array_equal(numpy.asarray(field), self.field))
        self.assertEqual(numpy.asarray(field, dtype="f4").dtype, numpy.dtype("f4"))
        self.assertEqual(numpy.sum(field), self.field.sum())
        with self.assertRaisesRegex(ValueError, "without a copy"):
            field.__array__(copy=False)
        self.assertEqual([plane.shape for plane in field], [(5, 6)] * 4)

    def test_writes_straight_into_out(self):
        field = self.open()["field"]
        out = numpy.full(122, -1.0)
        middle = out[1:-1]
        passed = []
        call = field._reader.call

        def noting(function, *arguments):
            passed.append(int(perdure._capi.ffi.cast("intptr_t", arguments[-2])))
            call(function, *arguments)

        field._reader.call = noting
        self.assertIs(field.read(out=middle), middle)
        self.assertEqual(passed, [out.__array_interface__["data"][0] + 8], "the library fills this very memory")
        self.assertTrue(numpy.array_equal(out, [-1, *self.field.flat, -1]))
        box = numpy.empty((2, 1, 6))
        self.assertIs(field.read((1, 2, 0), (3, 3, 6), out=box), box)
        self.assertTrue(numpy.array_equal(box, self.field[1:3, 2:3]))
        self.assertEqual(field.read((4, 0, 0), (4, 5, 6)).shape, (0, 5, 6))

    def test_refuses_an_out_that_does_not_fit(self):
        field = self.open()["field"]
        constant = numpy.zeros((4, 5, 6))
        constant.flags.writeable = False
        for out, why in ((numpy.zeros((4, 5, 5)), "has 100 elements, what is read 120"),
                         (numpy.zeros((4, 5, 6), "f4"), "float32"), ([0.0] * 120, "not a numpy array"),
                         (numpy.zeros((4, 5, 6), ">f8"), ">f8"), (numpy.zeros((4, 5, 12))[..., ::2], "C-contiguous"),
                         (numpy.zeros((6, 5, 4)).T, "C-contiguous"), (constant, "not writable"),
                         (bytearray(960), "not a numpy array"), (numpy.zeros((4, 5, 6), object), "object"),
                         (numpy.zeros((4, 5, 6), "i8"), "int64"), (numpy.zeros((4, 5, 6), "V8"), "V8")):
            with self.subTest(why), self.assertRaisesRegex(ValueError, why):
                field.read(out=out)
        self.assertFalse(constant.any())

    def test_takes_an_out_whose_dtype_is_written_otherwise(self):
        bodies = self.open()["bodies"]
        for dtype in (numpy.dtype([("position", "f8", (3,)), ("id", "i4")], align=True),
                      numpy.dtype([("position", "f8", (3, 1)), ("id", "i4")], align=True)):
            out = numpy.zeros(7, dtype)
            self.assertIs(bodies.read(out=out), out)
            self.assertEqual(out["id"].tolist(), list(range(7)))
        with self.assertRaises(perdure.InvalidArgument):
            bodies.read(out=numpy.zeros(7, [("position", "f8", (3,)), ("id", "f4"), ("room", "V4")]))

    def test_refuses_boxes_that_are_not_within(self):
        field = self.open()["field"]
        for begin, end in (((0, 0, 0), (4, 5, 7)), ((2, 0, 0), (1, 5, 6)), ((0, 0), (4, 5)), ((-1, 0, 0), (4, 5, 6)),
                           ((0, 0, 0), (2**64, 5, 6)), ((0.5, 0, 0), (4, 5, 6)), ("abc", None), (3, None)):
            with self.subTest((begin, end)), self.assertRaises(perdure.InvalidArgument):
                field.read(begin, end)

    def test_makes_no_second_copy_of_what_is_large(self):
        big = numpy.arange(4 * 2**20, dtype="f8")  # 32 MiB
        with self.job() as job:
            job.protect_replicated("big", big)
            job.checkpoint("big", 1)
        with perdure.Store(self.store).open("big") as checkpoint:
            tracemalloc.start()
            got = checkpoint["big"][...]
            peak = tracemalloc.get_traced_memory()[1]
            out = numpy.empty_like(big)
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            checkpoint["big"].read(out=out)
            beside = tracemalloc.get_traced_memory()[1] - before
            tracemalloc.stop()
        self.assertTrue(numpy.array_equal(got, big))
        self.assertTrue(numpy.array_equal(out, big))
        self.assertLess(peak, big.nbytes + 2**20)
        self.assertLess(beside, 2**20)


class Names(PlaceCase):
    def test_that_several_regions_have_are_ids_to_who_iterates(self):
        with self.job() as job:
            job.protect("a", numpy.zeros(1), id=1)
            job.protect("b", numpy.zeros(1), id=2)
            for number, name in ((1, b"same"), (2, b"same")):
                lib, ffi = perdure._capi.lib, perdure._capi.ffi
                self.assertEqual(lib.perdure_describe(job._handle, number, name, ffi.NULL, ffi.NULL), 0)
            job.protect("c", numpy.zeros(1), id=3)
            job.checkpoint("app", 1)
        with perdure.Store(self.store).open("app") as checkpoint:
            self.assertEqual(list(checkpoint), [1, 2, "c"])
            self.assertEqual([checkpoint[key].id for key in checkpoint], [1, 2, 3])
            with self.assertRaises(perdure.InvalidArgument):
                checkpoint["same"]


class LocalRegions(Written):
    def test_are_read_by_rank(self):
        checkpoint = self.open()
        whole = checkpoint.local(0, "own")
        self.assertEqual(whole.dtype, numpy.dtype("i4"))
        self.assertTrue(numpy.array_equal(whole.view("i4"), self.own))
        self.assertEqual(checkpoint.local(0, 7, 3, 2).view("i4").tolist(), [3, 4])
        self.assertEqual(checkpoint.local(0, 7, first=9).shape, (0,))
        out = numpy.zeros(9, "i4")
        self.assertIs(checkpoint.local(0, "own", out=out), out)
        self.assertEqual(out.tolist(), self.own.tolist())

    def test_that_cannot_be_are_errors(self):
        checkpoint = self.open()
        with self.assertRaises(perdure.NotFound):
            checkpoint.local(1, "own")
        with self.assertRaises(perdure.NotFound):
            checkpoint.local(0, "field")
        with self.assertRaises(perdure.NotFound):
            checkpoint.local(0, "other")
        for wrong in (dict(first=10), dict(first=5, count=5), dict(first=-1), dict(count=-1), dict(out=numpy.zeros(9, "i8")),
                      dict(out=numpy.zeros(8, "i4")), dict(out=numpy.zeros(9, "O")), dict(first=2**64)):
            with self.subTest(str(wrong)), self.assertRaises(perdure.InvalidArgument):
                checkpoint.local(0, "own", **wrong)
        with self.assertRaises(perdure.InvalidArgument):
            checkpoint.local(-1, "own")
        for read in (lambda: checkpoint["own"][...], lambda: checkpoint["own"].read(), lambda: numpy.asarray(checkpoint["own"])):
            with self.assertRaisesRegex(perdure.InvalidArgument, "checkpoint.local"):
                read()


class Verifying(Written):
    def test_finds_a_flipped_byte(self):
        self.open().verify()
        segment = self.segment(1)
        content = segment.read_bytes()
        at = content.find(self.field.tobytes()[:256])
        self.assertGreaterEqual(at, 0, "the field's bytes are in the store as they were in memory")
        flip_a_byte(segment, len(content) - at - 100)
        checkpoint = self.open()
        with self.assertRaises(perdure.Corrupt) as caught:
            checkpoint.verify()
        self.assertEqual(caught.exception.status, perdure.Status.CORRUPT)
        self.assertNotEqual(str(caught.exception), "")
        with self.assertRaises(perdure.Corrupt):
            checkpoint["field"][...]


class Exporting(Written):
    def test_writes_zarr(self):
        checkpoint = self.open()
        path = self.place / "out.zarr"
        checkpoint.export(path, ["field", 7], verify=False)
        described = json.loads((path / "field/zarr.json").read_text())
        self.assertEqual(described["shape"], [4, 5, 6])
        self.assertFalse((path / "bodies").exists())
        with self.assertRaises(perdure.Exists) as caught:
            checkpoint.export(path)
        self.assertIsInstance(caught.exception, FileExistsError)
        checkpoint.export(path, replace=True)
        self.assertTrue((path / "bodies").exists())

    @unittest.skipUnless(h5py, "needs h5py")
    def test_writes_what_h5py_reads(self):
        path = self.place / "out.h5"
        try:
            self.open().export(str(path))
        except perdure.Unsupported as error:
            self.skipTest(str(error))
        with h5py.File(path, "r") as file:
            self.assertTrue(numpy.array_equal(file["field"][...], self.field))
            self.assertEqual(file["bodies"][...]["id"].tolist(), list(range(7)))
            self.assertEqual(file["step"][()], 5)

    def test_of_what_cannot_be_is_refused(self):
        checkpoint = self.open()
        for path, regions, kind in (("out.txt", None, perdure.InvalidArgument), ("out.zarr", [], perdure.InvalidArgument),
                                    ("out.zarr", "field", perdure.InvalidArgument), ("out.zarr", ["other"], perdure.NotFound),
                                    ("o\0ut.zarr", None, perdure.InvalidArgument)):
            with self.subTest(path), self.assertRaises(kind):
                checkpoint.export(self.place / path, regions)
        self.assertFalse((self.place / "out.zarr").exists())


if __name__ == "__main__":
    unittest.main()
