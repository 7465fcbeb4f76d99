"""Finds the interface behind one lock: the public methods of a class that is used as Guarded<T>, and those of its
public parts."""

INDIRECT = {"unique_ptr", "shared_ptr", "optional", "reference_wrapper"}
QUALIFIERS = {"const", "mutable", "&", "*", "struct", "class", "typename"}


def named(tokens):
    """Returns the name of the class that a type leads to, through references and pointers to one; None for containers,
    or without a name."""
    tokens = [token for token in tokens if token not in QUALIFIERS]
    if "<" in tokens:
        opened = tokens.index("<")
        return named(tokens[opened + 1:-1]) if tokens[opened - 1] in INDIRECT and tokens[-1] == ">" else None
    return "".join(tokens) or None


def scopes(names):
    """Returns the scopes in which a name is looked up, the innermost first."""
    flat = [part for name in names for part in name.split("::")]
    return ["::".join(flat[:length]) for length in range(len(flat), -1, -1)]


class Types:
    """Holds the classes and aliases of all sources, by their full names."""

    def __init__(self, parsers):
        self.classes = {one.full_name: one for parser in parsers for one in parser.classes}
        self.aliases = {"::".join((*names, name)): (names, tokens) for parser in parsers for names, name, tokens in parser.aliases}

    def found(self, names, tokens):
        """Returns the class that a type means in a scope; None if it is none of ours."""
        name = named(tokens)
        for scope in scopes(names) if name else ():
            full = f"{scope}::{name}" if scope else name
            if full in self.classes:
                return self.classes[full]
            if full in self.aliases and self.aliases[full][1] != tokens:
                return self.found(*self.aliases[full])
        return None

    def reached(self, whole):
        """Returns the class and its visible parts, each once, at any depth: a public data member of a known class is a
        part."""
        seen, left = {}, [whole]
        while left:
            one = left.pop()
            if one.full_name not in seen:
                seen[one.full_name] = one
                left += filter(None, (self.found((*one.namespace, one.name), kind.split()) for kind in one.parts))
        return list(seen.values())


def interfaces(parsers):
    """Returns {name of a class behind a lock: the classes whose public methods are called with it held}."""
    types = Types(parsers)
    guarded = (types.found(names, tokens) for parser in parsers for names, tokens in parser.guarded)
    return {one.full_name: types.reached(one) for one in guarded if one}
