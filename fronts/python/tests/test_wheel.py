"""pip builds and installs the package, as docs/python.md says; it is imported from where it was installed."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import perdure

SOURCE = Path(__file__).resolve().parents[1]
LEFTOVERS = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
OFFLINE = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
PAGE = SOURCE.parents[1] / "docs/python.md"


def why_not():
    for module in ("pip", "setuptools", "wheel"):
        if subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode:
            return f"{sys.executable} has no {module}"
    return None


WHY_NOT = why_not()


class Wheel(unittest.TestCase):
    @unittest.skipIf(WHY_NOT, WHY_NOT)
    def test_is_built_installed_and_imported(self):
        self.assertIn("pip install ./fronts/python\n", PAGE.read_text())
        with tempfile.TemporaryDirectory(prefix="perdure-wheel-", dir="/tmp") as place:
            target = Path(place, "target")
            # A copy, because setuptools leaves what it builds in the folder of the source.
            shutil.copytree(SOURCE, Path(place, "fronts/python"), ignore=LEFTOVERS)
            pip = [sys.executable, "-m", "pip", "install", *OFFLINE, "--target", str(target), "./fronts/python"]
            done = subprocess.run(pip, cwd=place, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            installed = {file.name for file in (target / "perdure").iterdir()} - {"__pycache__"}
            self.assertEqual(installed, {file.name for file in (SOURCE / "perdure").iterdir()} - {"__pycache__"})
            self.assertIn("py.typed", installed)
            (metadata,) = target.glob("perdure-*.dist-info")
            self.assertEqual(metadata.name, f"perdure-{perdure.__version__}.dist-info")
            described = (metadata / "METADATA").read_text()
            for line in ("Requires-Dist: cffi", "Requires-Dist: numpy", 'Requires-Dist: mpi4py'):
                self.assertIn(line, described)
            program = "import perdure; print(perdure.__file__, perdure.__version__)"
            environment = {**os.environ, "PYTHONPATH": str(target)}
            done = subprocess.run([sys.executable, "-c", program], cwd=place, env=environment, capture_output=True, text=True)
            self.assertEqual(done.stdout, f"{target}/perdure/__init__.py {perdure.__version__}\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
