#!/usr/bin/env python3
"""Writes files as other programs do, for the test of import: foreign.py GOOD.h5 DIRECTORY. GOOD.h5 can be imported; the
files in DIRECTORY cannot."""
import sys

try:
    import h5py
    import numpy
except ImportError as error:
    sys.exit(f"FAILED: {error}; install Debian's python3-h5py (tools/bootstrap), for {sys.executable}")

good, refused = sys.argv[1:]
with h5py.File(good, "w") as file:
    numbers = numpy.arange(60).reshape(3, 4, 5)
    file["contiguous"] = numbers.astype("<f8")
    file["turned"] = numbers.astype(">i4")
    file["turned"].attrs["unit"] = "K"
    file.create_dataset("packed", data=numbers.astype("<f4"), chunks=(2, 2, 2), compression="gzip", shuffle=True)
    file["truth"] = numbers[0] % 2 == 0
    file["waves"] = (numbers[0] * (1 + 2j)).astype("c16")
    file["single"] = numpy.int16(-3)
    file["empty"] = numpy.zeros((0, 7), "u1")
    bodies = numpy.zeros(4, numpy.dtype([("x", ">f8", (3,)), ("id", "u2")], align=True))
    bodies["x"] = numpy.arange(12).reshape(4, 3)
    bodies["id"] = [1, 2, 3, 40000]
    file["bodies"] = bodies
    file["lying"] = numpy.arange(3, dtype="<i4")
    file["lying"].attrs["perdure_type"] = "f4"  # as if the data set was replaced after an export
    file.create_dataset("growing", data=numpy.arange(9, dtype="i8"), maxshape=(None,), chunks=(4,))


def refuse(name, fill):
    with h5py.File(f"{refused}/{name}.h5", "w") as file:
        file["fine"] = 1.0
        fill(file)


refuse("text", lambda file: file.create_dataset("words", data=["a", "b"], dtype=h5py.string_dtype()))
refuse("group", lambda file: file.create_dataset("deep/er", data=1.0))
refuse("rank", lambda file: file.create_dataset("ranks/first/x", data=[1.0]))
refuse("nested", lambda file: file.create_dataset("nest", data=numpy.zeros(2, [("a", [("b", "f4")])])))
refuse("half", lambda file: file.create_dataset("half", data=numpy.zeros(2, "f2")))
refuse("named", lambda file: file.create_dataset("5 o'clock", data=1.0))
refuse("nothing", lambda file: file.create_dataset("null", data=h5py.Empty("f8")))
refuse("long", lambda file: file.create_dataset("long", shape=(1 << 41,), dtype="f8", chunks=(1024,)))
refuse("huge", lambda file: file.create_dataset("huge", shape=(1 << 58,), dtype="f8", chunks=(1024,)))


def many_huge_ones(file):
    for i in range(5):
        file.create_dataset(f"ranks/{i}/huge", shape=(1 << 60,), dtype="u1", chunks=(1024,))


refuse("huge_ones", many_huge_ones)
refuse("reference", lambda file: file.create_dataset("ref", data=file["fine"].ref, dtype=h5py.ref_dtype))
