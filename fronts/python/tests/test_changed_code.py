"""People change the code between two starts. This runs the table of tests/data/changes.table in Python, which knows
names, types and shapes without being told."""

import unittest
from pathlib import Path

import numpy

import perdure
from support import PlaceCase

TABLE = Path(__file__).resolve().parents[3] / "tests/data/changes.table"


def rows():
    """Gives the change, the regions of the new program, its declarations, the status, its words, and the restored data.
    """
    for line in TABLE.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        what, now, declared, status, words, filled = (field.strip() for field in line.split("|"))
        regions = [region.split(":") for region in now.split()]
        if all(name for _, name, _, _ in regions):  # an array has a name here
            listed = [[] if field == "-" else field.split(by) for field, by in ((declared, None), (words, ";"), (filled, None))]
            yield what, [(int(id), name, int(count), type) for id, name, count, type in regions], listed[0], status, *listed[1:]


class ChangedCode(PlaceCase):
    def setUp(self):
        super().setUp()
        with self.job() as job:
            job.protect("x", numpy.full(100, 1.0), id=0)
            job.protect("y", numpy.full(100, 2.0), id=1)
            job.checkpoint("app", 500)

    def declare(self, job, declared):
        for text in declared:
            kind, _, names = text.partition(":")
            if kind in ("passed_over", "renamed"):
                getattr(job, {"passed_over": "pass_over"}.get(kind, kind))(*names.split(">"))

    def test_gets_its_arrays_by_name_or_hears_all_that_differs(self):
        carried_out = 0
        for what, regions, declared, status, words, filled in rows():
            carried_out += 1
            with self.subTest(what), self.job() as job:
                arrays = {id: numpy.full(count, -1, type) for id, _, count, type in regions}
                for id, name, _, _ in regions:
                    job.protect(name, arrays[id], id=id, optional=f"optional:{id}" in declared)
                self.declare(job, declared)
                if status == "ok":
                    self.assertEqual(job.restore("app"), 500)
                else:
                    with self.assertRaises(perdure.Mismatch) as caught:
                        job.restore("app")
                    text = str(caught.exception)
                    self.assertTrue(text.startswith("app version 500: it does not fit what is protected: "), text)
                    for part in words:
                        self.assertIn(part, text)
                comes = dict(one.split("=") for one in filled)
                for id, name, _, _ in regions:
                    self.assertEqual(job.was_restored(name), str(id) in comes)
                    self.assertTrue((arrays[id] == {"x": 1, "y": 2}.get(comes.get(str(id)), -1)).all(), name)
        self.assertGreater(carried_out, 15)

    def test_is_refused_where_size_type_or_shape_is_another(self):
        for other, told in ((numpy.zeros(101), "it was stored as 100 elements of 8 bytes, and is protected as 101"),
                            (numpy.zeros(100, "i8"), "its element type was stored as f8, and is protected as i8"),
                            (numpy.zeros((10, 10)), "its shape was stored as 100, and is protected as 10x10")):
            with self.job() as job:
                job.protect("x", other)
                with self.assertRaisesRegex(perdure.Mismatch, told):
                    job.restore("app", regions=["x"])
                self.assertFalse(other.any())

    def test_compares_shapes_as_memory_lies(self):
        with self.job() as job:
            job.protect("x", numpy.zeros((2, 3), order="F"))
            job.checkpoint("matrix", 1)
        with self.job() as job:
            job.protect("x", numpy.zeros((2, 3)))
            with self.assertRaisesRegex(perdure.Mismatch, "its shape was stored as 3x2, and is protected as 2x3"):
                job.restore("matrix")
            job.protect("x", numpy.zeros((2, 3), order="F"))
            self.assertEqual(job.restore("matrix"), 1)

    def test_protects_memory_of_types_that_the_library_does_not_have(self):
        for dtype in ("f2", "<U4", ">i4", "datetime64[s]"):
            with self.job() as job:
                array = numpy.zeros(3, dtype)
                job.protect("odd", array)
                job.checkpoint("odd", 1)
                self.assertEqual(job.restore("odd"), 1)
                job.retire("odd", 1)

    def test_is_a_mismatch_on_all_ranks_where_one_differs(self):
        def write(comm, rank):
            with self.job(comm) as job:
                job.protect("x", numpy.full(4, float(rank)))
                job.checkpoint("ranks", 1)

        def read(comm, rank):
            with self.job(comm) as job:
                x = numpy.full(4, -1.0)
                job.protect("x", x)
                if rank == 1:
                    job.protect("extra", numpy.zeros(2))
                with self.assertRaises(perdure.Mismatch) as caught:
                    job.restore("ranks")
                self.assertEqual(x.tolist(), [-1] * 4)
                if rank == 1:
                    job.protect("extra", numpy.zeros(2), optional=True)
                job.restore("ranks")
                self.assertEqual(x.tolist(), [rank] * 4)
                return str(caught.exception)

        self.run_ranks(3, write)
        texts = self.run_ranks(3, read)
        self.assertEqual(len(set(texts)), 1, texts)
        self.assertIn("rank 1: it does not fit what is protected: region ", texts[0])

    def test_says_what_cannot_be_declared(self):
        with self.job() as job:
            for wrong in (("x", "x"), ("no name", "x"), ("", "x")):
                with self.assertRaises(perdure.InvalidArgument):
                    job.renamed(*wrong)
            with self.assertRaises(perdure.InvalidArgument):
                job.pass_over("no name")
            with self.assertRaises(perdure.NotFound):
                job.was_restored("x")


if __name__ == "__main__":
    unittest.main()
