#!/usr/bin/env python3
"""Tests the check on small trees with one violation each, because a check that finds nothing is useless."""
import pathlib
import tempfile
import unittest

import check_layers

GOOD = {
    "src/LAYERS": "# comment\nbase:\nos: base\n",
    "src/base/a.hpp": '#include <vector>\n#include "base/b.hpp"\n#include "perdure/perdure.h"\n',
    "src/os/c.cpp": '#include "os/c.hpp"\n#include "base/a.hpp"\n',
    "apps/x/main.c": '#include "perdure/perdure.h"\n',
    "include/perdure/perdure.h": "\n",
}


def defects(changes):
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in {**GOOD, **changes}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return check_layers.check(root)


class CheckLayers(unittest.TestCase):
    def test_accepts_what_goes_down(self):
        self.assertEqual(defects({}), [])

    def test_refuses_what_goes_up(self):
        self.assertEqual(defects({"src/base/d.cpp": '\n#include "os/c.hpp"\n'}),
                         ["src/base/d.cpp:2: base may not include os/c.hpp"])

    def test_refuses_what_goes_up_with_odd_blanks(self):
        self.assertEqual(len(defects({"src/base/d.cpp": '  #  include   "os/c.hpp"\n'})), 1)

    def test_refuses_a_module_that_is_not_listed(self):
        self.assertEqual(defects({"src/new/x.cpp": "\n"}), ["src/new: is not in src/LAYERS"])

    def test_a_folder_in_a_module_is_of_that_module(self):
        self.assertEqual(defects({"src/os/in/x.cpp": '#include "base/a.hpp"\n#include "os/in/y.hpp"\n'}), [])
        self.assertEqual(defects({"src/base/in/x.cpp": '#include "os/c.hpp"\n'}), ["src/base/in/x.cpp:1: base may not include os/c.hpp"])

    def test_refuses_a_cycle_in_the_list(self):
        self.assertEqual(len(defects({"src/LAYERS": "base: os\nos: base\n"})), 1)

    def test_refuses_the_inside_in_an_application(self):
        self.assertEqual(len(defects({"bench/y.cpp": '#include "base/a.hpp"\n'})), 1)

    def test_a_listed_program_sees_what_its_line_says_and_no_more(self):
        listed = {"src/LAYERS": "base:\nos: base\nbench/s: base\n"}
        self.assertEqual(defects({**listed, "bench/s/y.cpp": '#include "base/a.hpp"\n#include "own.hpp"\n'}), [])
        self.assertEqual(defects({**listed, "bench/s/y.cpp": '#include "os/c.hpp"\n'}),
                         ["bench/s/y.cpp:1: bench/s may not include os/c.hpp"])
        self.assertEqual(len(defects({**listed, "bench/y.cpp": '#include "base/a.hpp"\n'})), 1)

    FAMILY = {"src/LAYERS": "base:\nos: base\nengine/low: base\nengine/high: base engine/low\ncli: engine/high\n", "src/engine/low/a.hpp": "\n"}

    def test_parts_of_a_family_are_modules(self):
        self.assertEqual(defects({**self.FAMILY, "src/engine/high/b.cpp": '#include "engine/low/a.hpp"\n'}), [])
        self.assertEqual(defects({**self.FAMILY, "src/engine/low/b.cpp": '#include "engine/high/a.hpp"\n', "src/engine/high/a.hpp": "\n"}),
                         ["src/engine/low/b.cpp:1: engine/low may not include engine/high/a.hpp"])
        self.assertEqual(len(defects({**self.FAMILY, "src/engine/low/b.cpp": '#include "engine/a.hpp"\n'})), 1)
        self.assertEqual(len(defects({**self.FAMILY, "src/engine/mid/b.cpp": "\n"})), 1)

    def test_tests_of_a_family_see_all_of_it(self):
        self.assertEqual(defects({**self.FAMILY, "src/engine/high/a_testing.hpp": "\n",
                                  "src/engine/low/b_test.cpp": '#include "engine/high/a_testing.hpp"\n'}), [])

    def test_refuses_what_is_for_tests_in_production(self):
        self.assertEqual(defects({"src/base/d.cpp": '#include "base/a_testing.hpp"\n'}),
                         ["src/base/d.cpp:1: base/a_testing.hpp is for tests only"])

    def test_a_program_outside_bench_is_checked_too(self):
        self.assertEqual(defects({**self.FAMILY, "cli/x.cpp": '#include "cli/y.hpp"\n#include "engine/high/a.hpp"\n'}), [])
        self.assertEqual(len(defects({**self.FAMILY, "cli/x.cpp": '#include "engine/low/a.hpp"\n'})), 1)

    MODELS = {"src/LAYERS": "base:\nos: base\nmodels/track: base\nmodels/mesh:\n+models/mesh: models/track\ncli: os\n+cli: models/track\nfuzz: models/mesh\n",
              "models/track/a.hpp": '#include "base/a.hpp"\n', "models/mesh/b.hpp": '#include "track/a.hpp"\n#include "mesh/c.hpp"\n'}

    def test_models_see_what_their_lines_say(self):
        self.assertEqual(defects(self.MODELS), [])
        self.assertEqual(defects({**self.MODELS, "models/mesh/b.hpp": '#include "base/a.hpp"\n'}), ["models/mesh/b.hpp:1: models/mesh may not include base/a.hpp"])
        self.assertEqual(defects({**self.MODELS, "models/track/a.hpp": '#include "mesh/b.hpp"\n'}), ["models/track/a.hpp:1: models/track may not include mesh/b.hpp"])

    def test_programs_see_the_models_of_their_lines_and_modules_none(self):
        self.assertEqual(defects({**self.MODELS, "cli/x.cpp": '#include "os/c.hpp"\n#include "track/a.hpp"\n', "fuzz/y.cpp": '#include "mesh/b.hpp"\n'}), [])
        self.assertEqual(defects({**self.MODELS, "cli/x.cpp": '#include "mesh/b.hpp"\n'}), ["cli/x.cpp:1: cli may not include mesh/b.hpp"])
        self.assertEqual(defects({**self.MODELS, "src/os/x.cpp": '#include "track/a.hpp"\n'}), ["src/os/x.cpp:1: os may not include track/a.hpp"])

    def test_applications_and_fronts_see_models_and_not_the_inside(self):
        self.assertEqual(defects({**self.MODELS, "apps/x/y.cpp": '#include "mesh/b.hpp"\n'}), [])
        self.assertEqual(len(defects({**self.MODELS, "fronts/cpp/y.cpp": '#include "os/c.hpp"\n'})), 1)

    def test_refuses_a_model_that_is_not_listed(self):
        self.assertEqual(defects({**self.MODELS, "models/new/x.cpp": "\n"}), ["models/new: is not in src/LAYERS"])

    def test_a_line_with_a_plus_is_of_something_known_and_names_what_stands_above_it(self):
        for line in ("+models/new: models/track", "+models/track: models/mesh", "+cli: models/new", "+cli"):
            with self.subTest(line):
                self.assertEqual(len(defects({**self.MODELS, "src/LAYERS": self.MODELS["src/LAYERS"] + line + "\n"})), 1)

    def test_refuses_the_inside_in_a_public_header(self):
        self.assertEqual(len(defects({"include/perdure/z.hpp": '#include "base/a.hpp"\n'})), 1)

    def test_refuses_json_in_a_header(self):
        self.assertEqual(len(defects({"src/base/d.hpp": "#include <nlohmann/json.hpp>\n"})), 1)
        self.assertEqual(len(defects({"cli/d.hpp": "#include <nlohmann/json.hpp>\n"})), 1)
        self.assertEqual(defects({"src/base/d.cpp": "#include <nlohmann/json.hpp>\n", "src/base/json.hpp": "#include <nlohmann/json.hpp>\n"}), [])


if __name__ == "__main__":
    unittest.main()
