#!/usr/bin/env python3
"""Checks that includes only go down the layers: src/LAYERS says which module may include which.
Programs that stand for an application (models, apps, bench, fronts) see only include/perdure; all but models also see
models/. A folder may have a line of its own there (cli, models/mesh, bench/studies). It sees what that line says, and of
models/ what its line with a + says. No source below src sees models/. Tests of one family (engine/...) see all of it.
Usage: check_layers.py [ROOT]"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
SUFFIXES = {".cpp", ".hpp", ".c", ".h"}


def read_layers(path):
    """Returns {module: set of modules it may include}, and a list of errors in the file itself."""
    layers, defects = {}, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        more, (name, colon, allowed) = line.startswith("+"), line.removeprefix("+").partition(":")
        if not colon or (name in layers) != more:
            defects.append(f"{path}:{number}: not a {'known' if more else 'new'} '{'+' * more}module: modules' line")
            continue
        for other in allowed.split():
            # A module may only name those above it, so that there can be no cycle.
            if other not in layers or (more and list(layers).index(other) > list(layers).index(name)):
                defects.append(f"{path}:{number}: {name} names {other}, which does not stand above it")
        layers.setdefault(name, set()).update(allowed.split())
    return layers, defects


def includes(path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1)


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES) if folder.is_dir() else []


def is_test(path):
    return path.stem.endswith(("_test", "_testing"))


def module_of(root, layers, include):
    """Returns engine/flush for engine/flush/flusher.hpp, base for base/result.hpp, models/mesh for mesh/mesh.hpp; None
    outside of modules."""
    folders = include.split("/")[:-1]
    for depth in range(len(folders), 0, -1):
        if "/".join(folders[:depth]) in layers:
            return "/".join(folders[:depth])
    if folders and (root / "models" / folders[0]).is_dir() and not (root / "src" / folders[0]).is_dir():
        return "models/" + folders[0]
    return None


def is_module(root, name):
    return (root / "src" / name).is_dir()


def check_module(root, layers, name):
    allowed = layers[name] | {name}
    family = name.split("/")[0] + "/" if "/" in name else None
    for path in sources(root / "src" / name):
        for number, include in includes(path):
            module = module_of(root, layers, include)
            if module is None and family and include.startswith(family):
                yield f"{path.relative_to(root)}:{number}: {include} is in no module of src/LAYERS"
            if include.endswith("_testing.hpp") and not is_test(path):
                yield f"{path.relative_to(root)}:{number}: {include} is for tests only"
            if module is None or module in allowed:
                continue
            if family and is_test(path) and module.startswith(family):
                continue
            yield f"{path.relative_to(root)}:{number}: {name} may not include {include}"


def check_listed(root, layers):
    """Checks that every folder below src with its own sources is a module or lies in one, and that every model has a line."""
    for folder in sorted((root / "src").rglob("*")):
        if folder.is_dir() and any(path.suffix in SUFFIXES for path in folder.iterdir()):
            name = folder.relative_to(root / "src").as_posix()
            if module_of(root, layers, name + "/") is None:
                yield f"src/{name}: is not in src/LAYERS"
    for folder in sorted((root / "models").glob("*/")):
        if sources(folder) and folder.relative_to(root).as_posix() not in layers:
            yield f"{folder.relative_to(root)}: is not in src/LAYERS"


def check_program(root, layers, name):
    """Checks a folder outside src whose path is in src/LAYERS. It includes its own headers by their bare names, or by
    its own name."""
    for path in sources(root / name):
        for number, include in includes(path):
            module = module_of(root, layers, include)
            if is_test(path) and module and is_module(root, module):
                continue  # they see the assembled library
            if module and module != name and module not in layers[name]:
                yield f"{path.relative_to(root)}:{number}: {name} may not include {include}"


def check_outside(root, layers, folder):
    programs = [root / name for name in layers if not is_module(root, name)]
    for path in sources(folder):
        if any(program in path.parents for program in programs):
            continue
        for number, include in includes(path):
            module = module_of(root, layers, include)
            if module and not module.startswith("models/"):
                yield f"{path.relative_to(root)}:{number}: an application sees only include/perdure and models, not {include}"


def check_public(root):
    for path in sources(root / "include"):
        for number, include in includes(path):
            if not include.startswith("perdure/"):
                yield f"{path.relative_to(root)}:{number}: a public header includes {include}"


def check_weight(root):
    """Checks that headers of the product only name JSON values: each unit that parses nlohmann/json pays a second or
    more for it."""
    for path in [path for folder in ("src", "models", "cli", "fronts") for path in sources(root / folder)]:
        if path.suffix == ".hpp" and path.relative_to(root).as_posix() != "src/base/json.hpp":
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                if re.match(r"\s*#\s*include\s*<nlohmann/json.hpp>", line):
                    yield f"{path.relative_to(root)}:{number}: a header names base::Json with base/cbor.hpp; sources include base/json.hpp"


def check(root):
    layers, defects = read_layers(root / "src" / "LAYERS")
    defects += check_listed(root, layers)
    for name in layers:
        defects += check_module(root, layers, name) if is_module(root, name) else check_program(root, layers, name)
    for name in ("apps", "bench", "fronts"):
        defects += check_outside(root, layers, root / name)
    return defects + list(check_public(root)) + list(check_weight(root))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    defects = check(root)
    print("\n".join(defects) if defects else "layers: good")
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
