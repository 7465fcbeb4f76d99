"""The declarations of the package are those of the headers. The library is found, or the error says where it was looked
for."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import cffi

import perdure
from perdure import _capi

ROOT = Path(__file__).resolve().parents[3]
HEADERS = ROOT / "include"


def parsed_headers():
    """Declares the C library from the headers."""
    with tempfile.TemporaryDirectory() as empty:
        for header in ("stddef.h", "stdint.h"):  # cffi knows their types
            (Path(empty) / header).touch()
        command = ["gcc", "-E", "-P", "-nostdinc", "-I", empty, "-I", str(HEADERS), "-include", "perdure/perdure.h"]
        command += ["-x", "c", str(HEADERS / "perdure/perdure_reader.h")]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    headers = cffi.FFI()
    headers.cdef(text.replace('__attribute__((visibility("default")))', ""))
    return headers


def shape_of(ffi, ctype, seen=()):
    """Gives all that a caller has to know of a type, without addresses: comparable between two FFIs."""
    if ctype.kind in ("pointer", "array"):
        return ctype.kind, getattr(ctype, "length", None), shape_of(ffi, ctype.item, seen)
    if ctype.kind == "function":
        return "function", shape_of(ffi, ctype.result, seen), tuple(shape_of(ffi, a, seen) for a in ctype.args), ctype.ellipsis
    if ctype.kind == "enum":
        return "enum", ctype.cname, ffi.sizeof(ctype), tuple(sorted(ctype.relements.items()))
    if ctype.kind == "struct" and ctype.cname not in seen:
        if ctype.fields is None:
            return "opaque", ctype.cname
        fields = tuple((n, f.offset, f.bitsize, shape_of(ffi, f.type, (*seen, ctype.cname))) for n, f in ctype.fields)
        return "struct", ctype.cname, ffi.sizeof(ctype), fields
    return ctype.kind, ctype.cname


class Declarations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.headers = parsed_headers()
        cls.library = cls.headers.dlopen(_capi.library_path)

    def test_have_all_functions_and_constants_of_the_headers_with_their_types(self):
        names = sorted(dir(self.library))
        self.assertIn("perdure_reader_export", names)
        self.assertIn("PERDURE_INCOMPLETE", names)
        self.assertEqual(names, sorted(dir(_capi.lib)))
        for name in names:
            theirs, ours = getattr(self.library, name), getattr(_capi.lib, name)
            with self.subTest(name):
                if isinstance(theirs, int):
                    self.assertEqual(ours, theirs)
                else:
                    theirs, ours = self.headers.typeof(theirs), _capi.ffi.typeof(ours)
                    self.assertEqual(shape_of(_capi.ffi, ours), shape_of(self.headers, theirs))

    def test_have_all_types_of_the_headers_with_their_layout(self):
        typedefs, structs, unions = self.headers.list_types()
        self.assertIn("perdure_region_info", typedefs)
        self.assertEqual((typedefs, structs, unions), _capi.ffi.list_types())
        for name in typedefs:
            with self.subTest(name):
                theirs, ours = self.headers.typeof(name), _capi.ffi.typeof(name)
                self.assertEqual(shape_of(_capi.ffi, ours), shape_of(self.headers, theirs))

    def test_are_compared_field_by_field(self):
        other = cffi.FFI()
        other.cdef("typedef struct perdure_region_size { uint64_t count; uint64_t element_bytes; } perdure_region_size;")
        theirs = shape_of(other, other.typeof("perdure_region_size"))
        self.assertNotEqual(theirs, shape_of(_capi.ffi, _capi.ffi.typeof("perdure_region_size")))

    def test_have_an_exception_and_a_status_for_every_status(self):
        values = {value: name for name, value in self.headers.typeof("perdure_status").relements.items()}
        self.assertEqual(values, {int(status): f"PERDURE_{status.name}" for status in perdure.Status})
        for status in perdure.Status:
            if status != perdure.Status.OK:
                kind = type(perdure.errors.error_of(status, "text"))
                self.assertIsNot(kind, perdure.Error)
                self.assertIs(getattr(perdure, kind.__name__), kind)

    def test_have_the_numbers_of_the_enumerations(self):
        for kind, prefix, enumeration in (
            ("perdure_level", "PERDURE_LEVEL_", perdure.Level),
            ("perdure_stored_state", "PERDURE_STORED_", perdure.State),
            ("perdure_stored_kind", "PERDURE_STORED_", perdure.Kind),
        ):
            theirs = self.headers.typeof(kind).relements
            self.assertEqual(theirs, {prefix + member.name: int(member) for member in enumeration})

    def test_have_all_that_progress_has(self):
        fields = [name for name, _ in self.headers.typeof("perdure_progress").fields]
        self.assertEqual(fields, list(perdure.Progress.__dataclass_fields__))


class Version(unittest.TestCase):
    def test_is_that_of_the_headers_and_of_the_library(self):
        text = (HEADERS / "perdure/perdure.h").read_text()
        numbers = [re.search(rf"PERDURE_VERSION_{part} (\d+)", text).group(1) for part in ("MAJOR", "MINOR", "PATCH")]
        self.assertEqual(perdure.__version__, ".".join(numbers))
        self.assertEqual(perdure.__version__, perdure.library_version)

    def test_of_another_library_is_refused(self):
        _capi._check_version(perdure.__version__.rsplit(".", 1)[0] + ".99", "x.so")
        for other in ("9.1.0", "0.99.0", "garbage"):
            with self.assertRaisesRegex(ImportError, f"(?s)x.so is version {other}.*PERDURE_LIBRARY"):
                _capi._check_version(other, "x.so")


def python(program, **environment):
    everything = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", program], env=everything, capture_output=True, text=True)


def loaded_library():
    """Gives the file that this process has loaded."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return next(line.split()[-1] for line in lines if "/libperdure.so" in line)


class Library(unittest.TestCase):
    def test_that_is_named_is_the_one_that_is_loaded(self):
        real = loaded_library()
        done = python("import perdure; print(perdure.library_path)", PERDURE_LIBRARY=real, LD_LIBRARY_PATH="")
        self.assertEqual((done.stdout.strip(), done.stderr), (real, ""))

    def test_that_is_named_and_missing_is_an_error_that_says_what_to_do(self):
        done = python("import perdure", PERDURE_LIBRARY="/nowhere/libperdure.so")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/nowhere/libperdure.so", done.stderr)
        self.assertIn("ImportError", done.stderr)
        self.assertIn("set PERDURE_LIBRARY", done.stderr)

    def test_that_is_nowhere_is_an_error_that_says_where_it_was_looked_for(self):
        done = python("import perdure", PERDURE_LIBRARY="", LD_LIBRARY_PATH="")
        if done.returncode == 0:
            self.skipTest("Perdure is installed where the loader looks")
        self.assertIn(f"{_capi._SONAME}: cannot ", done.stderr)
        self.assertIn(f"{sys.prefix}/lib/{_capi._SONAME}", done.stderr)

    def test_is_found_beside_the_installed_package(self):
        real = loaded_library()
        with tempfile.TemporaryDirectory() as prefix:
            packages = Path(prefix, "lib/python3/site-packages")
            package = packages / "perdure"
            package.mkdir(parents=True)
            for file in Path(perdure.__file__).parent.glob("*.py"):
                (package / file.name).write_text(file.read_text())
            Path(prefix, "lib", _capi._SONAME).symlink_to(real)
            done = python("import perdure; print(perdure.library_path)", PERDURE_LIBRARY="", LD_LIBRARY_PATH="",
                          PYTHONPATH=str(packages))
            self.assertEqual(done.stderr, "")
            self.assertEqual(done.stdout.strip(), os.path.realpath(prefix) + f"/lib/{_capi._SONAME}")


if __name__ == "__main__":
    unittest.main()
