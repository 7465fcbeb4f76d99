#!/usr/bin/env python3
"""Checks files that clover2d or clover3d wrote by --fields: check_fields.py CELLS LENGTHS MASS FILE...

h5py reads them. All must be equal bit by bit, and the first one must match the program's output. CELLS and LENGTHS are
those of the deck, x first ("48x32"), MASS is what it printed last."""
import math
import sys

try:
    import h5py
    import numpy
except ImportError as error:
    sys.exit(f"FAILED: {error}; install Debian's python3-h5py (tools/bootstrap), for {sys.executable}")


def expect(found, wanted, what):
    if found != wanted:
        sys.exit(f"FAILED: {what} is {found!r}, not {wanted!r}")


def check_first(file, cells, lengths, mass):
    axes = "xyz"[:len(cells)]
    velocities = [axis + "vel0" for axis in axes]
    expect(sorted(file), sorted(["density0", "energy0", "pressure", *velocities]), "the list of fields")
    for name, field in file.items():
        extents = [count + (name in velocities) for count in cells]
        expect(field.shape, tuple(reversed(extents)), f"the shape of {name}")
        expect(field.dtype, numpy.dtype("<f8"), f"the type of {name}")
        expect(list(field.attrs["extents"]), extents, f"extents of {name}")
        expect(list(field.attrs["first_index"]), [0] * len(cells), f"first_index of {name}")
        expect(field.attrs["block"], "domain", f"block of {name}")
        if not field[...].any():
            sys.exit(f"FAILED: {name} is zero everywhere")
    expect(file["density0"].attrs["description"], "density at the beginning of a step", "the description of density0")
    volume = math.prod(length / count for length, count in zip(lengths, cells))
    found = math.fsum(file["density0"][...].flat) * volume
    if not math.isclose(found, mass, rel_tol=1e-3):
        sys.exit(f"FAILED: the mass is {found}, and the program said {mass}")
    # Almost nothing flows through walls.
    for axis, name in enumerate(velocities):
        faces = numpy.moveaxis(file[name][...], len(cells) - 1 - axis, 0)
        most = max(abs(faces[0]).max(), abs(faces[-1]).max())
        if most > 0.01 * abs(faces).max():
            sys.exit(f"FAILED: {name} is {most} at the walls across {axes[axis]}")


def main():
    cells, lengths, mass, first, *others = sys.argv[1:]
    with h5py.File(first, "r") as file:
        check_first(file, [int(count) for count in cells.split("x")], [float(length) for length in lengths.split("x")], float(mass))
        for path in others:
            with h5py.File(path, "r") as other:
                expect(sorted(other), sorted(file), f"the list of fields of {path}")
                for name, field in file.items():
                    if field[...].tobytes() != other[name][...].tobytes():
                        sys.exit(f"FAILED: {name} has other bits in {path} than in {first}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
