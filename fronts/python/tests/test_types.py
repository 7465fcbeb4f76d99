"""Types of elements are converted between dtypes and texts, there and back, with the same bytes in memory."""

import ctypes
import unittest

import numpy

import perdure
from perdure.types import dtype_of, text_of

SCALARS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16", "b1", "v1", "v5", "v1048576"]


class Body(ctypes.Structure):
    _fields_ = [("position", ctypes.c_double * 3), ("id", ctypes.c_int32)]


class Mixed(ctypes.Structure):
    _fields_ = [("flag", ctypes.c_bool), ("value", ctypes.c_double), ("small", ctypes.c_int16)]


class Types(unittest.TestCase):
    def test_of_scalars_go_there_and_back(self):
        for text in SCALARS:
            self.assertEqual(text_of(dtype_of(text)), text)
            self.assertEqual(dtype_of(text).itemsize, int(text[1:]))
        self.assertEqual(dtype_of("b1"), numpy.dtype(bool))
        self.assertEqual(dtype_of("c16"), numpy.dtype(complex))
        self.assertEqual(dtype_of("u8"), numpy.dtype(numpy.uint64))
        self.assertEqual(text_of(numpy.int_), "i8")

    def test_of_structures_go_there_and_back_with_their_room(self):
        for text in (
            "{position:3f8,id:i4,v4}",
            "{v4,id:i4}",
            "{a:b1,v7,b:c16,c:v3,d:2v3}",
            "{only:u2}",
        ):
            self.assertEqual(text_of(dtype_of(text)), text)
        dtype = dtype_of("{position:3f8,id:i4,v4}")
        self.assertEqual(dtype.itemsize, 32)
        self.assertEqual(dtype.names, ("position", "id"))
        self.assertEqual(dtype["position"].shape, (3,))
        self.assertEqual(dtype.fields["id"][1], 24)
        self.assertEqual(dtype_of("{v3,v5}"), numpy.dtype("V8"))

    def test_of_structures_are_those_of_c(self):
        for structure, text in ((Body, "{position:3f8,id:i4,v4}"), (Mixed, "{flag:b1,v7,value:f8,small:i2,v6}")):
            self.assertEqual(text_of(numpy.dtype(structure)), text)
            self.assertEqual(dtype_of(text).itemsize, ctypes.sizeof(structure))
        bodies = (Body * 2)(((1, 2, 3), 4), ((5, 6, 7), 8))
        seen = numpy.frombuffer(bodies, dtype_of("{position:3f8,id:i4,v4}"))
        self.assertEqual(seen["id"].tolist(), [4, 8])
        self.assertEqual(seen["position"].tolist(), [[1, 2, 3], [5, 6, 7]])

    def test_keep_members_that_are_out_of_order_where_they_are(self):
        dtype = numpy.dtype({"names": ["b", "a"], "formats": ["i4", "f8"], "offsets": [8, 0], "itemsize": 24})
        self.assertEqual(text_of(dtype), "{a:f8,b:i4,v12}")

    def test_count_the_elements_of_sub_arrays(self):
        self.assertEqual(text_of([("tensor", "f4", (2, 3))]), "{tensor:6f4}")

    def test_that_the_library_has_not_are_refused_with_the_reason(self):
        for dtype, reason in (
            (">f8", "byte order"),
            ([("a", ">i4")], "byte order"),
            (object, "objects"),
            ([("a", object)], "objects"),
            ("f2", "no type of an element"),
            (numpy.longdouble, "no type of an element"),
            ("U4", "no type of an element"),
            ("S4", r"view\('V4'\)"),
            ("M8[s]", "no type of an element"),
            ("V0", "no type of an element"),
            ([("a", [("b", "i4")])], "structures within others"),
            ([("ä", "i4")], "name of a member"),
            ([("a" * 65, "i4")], "name of a member"),
            ([("a", "i4", (0,))], "has no elements"),
            ({"names": ["a", "b"], "formats": ["i4", "i4"], "offsets": [0, 2]}, "overlaps"),
        ):
            with self.subTest(dtype), self.assertRaisesRegex(perdure.InvalidArgument, reason):
                text_of(dtype)
        for text in ("", "i3", "f16", "x4", "v", "v0", "{}", "{a:i4", "a:i4", "{a:i4,}", "{i4}", "{a:0i4}", "i4\n", "{1:i4}"):
            with self.subTest(text), self.assertRaises(perdure.InvalidArgument):
                dtype_of(text)


if __name__ == "__main__":
    unittest.main()
