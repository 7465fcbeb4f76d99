#!/usr/bin/env python3
"""Compares exported files with the expected arrays: check_export.py [EXPORTED EXPECTED]...

EXPORTED is a file.h5, read with h5py, or a directory.zarr. The strict reader of Zarr 3 below reads the latter, and
zarr-python too if it is installed. EXPECTED is a directory written by a test of src/portable: index.json, and the bytes
of each array.
"""
import json
import math
import os
import re
import sys

try:
    import h5py
    import numpy
except ImportError as error:
    sys.exit(f"FAILED: {error}; install Debian's python3-h5py (tools/bootstrap), for {sys.executable}")

SCALAR = re.compile(r"(\d*)([iufcbv])(\d+)$")


def fail(text):
    sys.exit("FAILED: " + text)


def expect(found, wanted, what):
    if found != wanted:
        fail(f"{what} is {found!r}, not {wanted!r}")


def members_of(text):
    """Returns (name, letter, bytes, count, offset) of each member; without a name: the whole element, or padding."""
    compound = text.startswith("{")
    members, offset = [], 0
    for part in text.strip("{}").split(","):
        name, _, scalar = part.rpartition(":")
        count, letter, size = SCALAR.match(scalar).groups()
        count, size = int(count or 1), int(size)
        members.append((name, letter, size, count, offset))
        offset += count * size
    return compound, members, offset


def number(letter, size):
    if letter == "b":
        return numpy.dtype(bool)
    if letter == "v":
        return numpy.dtype("u1") if size == 1 else numpy.dtype(f"V{size}")
    return numpy.dtype(f"<{letter}{size}")


def dtype_of(text):
    compound, members, size = members_of(text)
    if not compound:
        return number(members[0][1], members[0][2])
    named = [m for m in members if m[0]]
    formats = [number(m[1], m[2]) if m[3] == 1 else (number(m[1], m[2]), (m[3],)) for m in named]
    return numpy.dtype({"names": [m[0] for m in named], "formats": formats, "offsets": [m[4] for m in named], "itemsize": size})


def attributes_of(attributes):
    return {key: value if isinstance(value, str) else int(value) for key, value in attributes.items()}


def check_hdf5(path, expected, wanted):
    with h5py.File(path, "r") as file:
        expect(attributes_of(file.attrs), wanted["attributes"], f"{path}: attributes of the root")
        found = []
        file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
        expect(sorted(found), sorted(s["path"] for s in wanted["sets"]), f"{path}: its data sets")
        for one in wanted["sets"]:
            where, dataset = f"{path}:/{one['path']}", file[one["path"]]
            with open(f"{expected}/{one['file']}", "rb") as raw:
                data = numpy.frombuffer(raw.read(), dtype_of(one["type"]))
            expect(dataset.shape, tuple(one["extents"]), where + " shape")
            expect(dataset.dtype, data.dtype, where + " type")
            expect(attributes_of(dataset.attrs), one["attributes"], where + " attributes")
            if 0 not in dataset.shape and dataset.shape and dataset.chunks is None:
                fail(where + " has no chunks")
            values = numpy.asarray(dataset[()])
            data = data.reshape(dataset.shape)
            for name in data.dtype.names or [None]:
                a, b = (values, data) if name is None else (values[name], data[name])
                if numpy.ascontiguousarray(a).tobytes() != numpy.ascontiguousarray(b).tobytes():
                    fail(f"{where} {name or ''}: other values")


# Reads Zarr 3 as strictly as the specification: every key must be known, every file accounted for, every chunk
# complete.
ZARR_TYPES = {"bool": "?", **{f"int{b}": f"<i{b // 8}" for b in (8, 16, 32, 64)}, **{f"uint{b}": f"<u{b // 8}" for b in (8, 16, 32, 64)},
              "float32": "<f4", "float64": "<f8", "complex64": "<c8", "complex128": "<c16"}
ARRAY_KEYS = {"zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs", "attributes"}


def read_zarr_array(path, node):
    expect(set(node), ARRAY_KEYS, path + " keys")
    shape, dtype = node["shape"], numpy.dtype(ZARR_TYPES[node["data_type"]])
    grid, keys, codecs = node["chunk_grid"], node["chunk_key_encoding"], node["codecs"]
    expect((grid["name"], set(grid), set(grid["configuration"])), ("regular", {"name", "configuration"}, {"chunk_shape"}), path + " grid")
    chunk = grid["configuration"]["chunk_shape"]
    expect(len(chunk), len(shape), path + " dimensions of chunks")
    if not all(isinstance(n, int) and n > 0 for n in chunk) or not all(isinstance(n, int) and n >= 0 for n in shape):
        fail(f"{path}: shape {shape}, chunks {chunk}")
    expect(keys, {"name": "default", "configuration": {"separator": "/"}}, path + " keys of chunks")
    expect(codecs, [{"name": "bytes", "configuration": {"endian": "little"}} if node["data_type"] not in ("bool", "int8", "uint8") else
                    {"name": "bytes"}], path + " codecs")
    fill = node["fill_value"]
    if node["data_type"] == "bool":
        expect(fill is False, True, path + " fill value")
    elif node["data_type"].startswith("complex"):
        expect(fill, [0.0, 0.0], path + " fill value")
    else:
        expect(fill == 0 and fill is not False, True, path + " fill value")
    values = numpy.zeros(shape, dtype)
    files = set()
    for number in numpy.ndindex(*[math.ceil(s / c) for s, c in zip(shape, chunk)]):
        name = "/".join(["c", *map(str, number)])
        with open(f"{path}/{name}", "rb") as file:
            raw = file.read()
        files.add(name)
        expect(len(raw), math.prod(chunk) * dtype.itemsize, f"{path}/{name} bytes")
        place = tuple(slice(n * c, min((n + 1) * c, s)) for n, c, s in zip(number, chunk, shape))
        within = tuple(slice(0, p.stop - p.start) for p in place)
        values[place] = numpy.frombuffer(raw, dtype).reshape(chunk)[within]
    there = {os.path.relpath(os.path.join(folder, f), path) for folder, _, names in os.walk(path) for f in names}
    expect(there, files | {"zarr.json"}, path + " files")
    return values


def read_zarr(path, name, arrays, groups):
    where = f"{path}/{name}" if name else path
    with open(where + "/zarr.json", encoding="utf-8") as file:
        node = json.load(file)
    expect(node["zarr_format"], 3, where + " format")
    if node["node_type"] == "array":
        arrays[name] = (read_zarr_array(where, node), node["attributes"])
        return
    expect((node["node_type"], set(node)), ("group", {"zarr_format", "node_type", "attributes"}), where)
    groups[name] = node["attributes"]
    for child in sorted(os.listdir(where)):
        if child != "zarr.json":
            read_zarr(path, f"{name}/{child}" if name else child, arrays, groups)


def check_zarr(path, expected, wanted):
    arrays, groups = {}, {}
    read_zarr(path, "", arrays, groups)
    expect(groups[""], wanted["attributes"], f"{path}: attributes of the group")
    for one in wanted["sets"]:
        compound, members, size = members_of(one["type"])
        with open(f"{expected}/{one['file']}", "rb") as raw:
            data = numpy.frombuffer(raw.read(), "u1").reshape(one["extents"] + [size])
        expect(groups[one["path"]] if compound else arrays[one["path"]][1], one["attributes"], one["path"] + " attributes")
        for name, letter, bytes_of_one, count, offset in members:
            if compound and not name:
                continue
            node = f"{one['path']}/{name}" if compound else one["path"]
            values, _ = arrays.pop(node)
            total = bytes_of_one * count
            last = (total if letter == "v" else count)
            expect(list(values.shape), one["extents"] + ([last] if last != 1 else []), f"{path}/{node} shape")
            expect(values.dtype, numpy.dtype("u1") if letter == "v" else number(letter, bytes_of_one), f"{path}/{node} type")
            if values.tobytes() != numpy.ascontiguousarray(data[..., offset:offset + total]).tobytes():
                fail(f"{path}/{node}: other values")
    expect(sorted(arrays), [], f"{path}: more arrays")
    check_with_zarr_python(path)


def check_with_zarr_python(path):
    try:
        import zarr
    except ImportError:
        return
    if not zarr.__version__.startswith("3"):
        return
    arrays, groups = {}, {}
    read_zarr(path, "", arrays, groups)
    group = zarr.open_group(path, mode="r")
    for name, (values, attributes) in arrays.items():
        node = group[name]
        expect(dict(node.attrs), attributes, f"zarr-python: {path}/{name} attributes")
        if numpy.asarray(node[...]).tobytes() != values.tobytes():
            fail(f"zarr-python: {path}/{name}: other values")


def main(arguments):
    if not arguments or len(arguments) % 2:
        sys.exit(__doc__)
    for path, expected in zip(arguments[::2], arguments[1::2]):
        with open(f"{expected}/index.json", encoding="utf-8") as file:
            wanted = json.load(file)
        (check_zarr if os.path.isdir(path) else check_hdf5)(path, expected, wanted)


if __name__ == "__main__":
    main(sys.argv[1:])
