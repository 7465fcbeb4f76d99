"""Reads the declarations of a C++ source: classes with methods and members, functions with their length, and types
behind a lock."""
import re
from bisect import bisect_left, bisect_right

from .tokens import angle_end, branch_lines, closing, tokens_of, top_level

FLAG = re.compile(r"(mutable )?(bool|std :: atomic (< bool >|_bool)|std :: optional < bool >)")


def name_of(text, names):
    """Returns `engine::Server::stop` for a function's declaration in namespace engine."""
    top = top_level(text)
    before = begin = top.index("operator") if "operator" in top else top.index("(") - 1
    while begin > 0 and (top[begin - 1] in ("::", "~") or (top[begin] == "::" and re.match(r"\w", top[begin - 1]))):
        begin -= 1
    return "::".join((*names, "".join(top[begin:before]) + ("operator" if top[before] == "operator" else text[before])))


class Class:
    def __init__(self, name, file, namespace):
        self.name, self.file, self.namespace = name, file, namespace
        self.methods, self.members = [], []  # public ones by name; (name, type as text)
        self.parts = []                      # the types of public data members, as text
        self.hides = False                   # some member is not public

    @property
    def full_name(self):
        return "::".join((*self.namespace, self.name))

    @property
    def flags(self):
        return [name for name, kind in self.members if FLAG.fullmatch(kind)]

    @property
    def is_class(self):
        return bool(self.methods) and self.hides


class Parser:
    def __init__(self, file, text):
        self.file, self.classes = file, []
        self.tokens, self.lines = tokens_of(text)
        self.functions = []  # (name, lines from its first word to its closing brace)
        self.complexities = []  # (name, one more than its branches)
        self.branches = branch_lines(text)
        self.guarded = []    # (the scope, the type T as tokens) of each Guarded<T> that a declaration names
        self.aliases = []    # (the scope, the name, the type as tokens) of each `using name = type`
        self.scope(0, len(self.tokens), (), None)

    def scope(self, i, end, names, owner, access="public"):
        while i < end:
            i, access = self.statement(i, end, names, owner, access)

    def statement(self, i, end, names, owner, access):
        """Reads one declaration from `i`; returns where the next begins, and the access from there on."""
        tokens = self.tokens
        if tokens[i] in (";", "}"):
            return i + 1, access
        if tokens[i] in ("public", "protected", "private") and tokens[i + 1] == ":":
            return i + 2, tokens[i]
        while tokens[i] == "template":
            i = angle_end(tokens, i + 1)
            if tokens[i] == "requires":  # skip to the declaration's first word; the clause is (...) or a name<...>
                i = closing(tokens, i + 1) + 1 if tokens[i + 1] == "(" else self.skip_name(i + 1)
        while tokens[i] == "[" and tokens[i + 1] == "[":
            i = closing(tokens, i) + 1
        if tokens[i] == "namespace" or (tokens[i] == "inline" and tokens[i + 1] == "namespace"):
            return self.namespace(i, end, names), access
        if tokens[i] == "extern" and tokens[i + 1] == "0" and tokens[i + 2] == "{":
            close = closing(tokens, i + 2)
            self.scope(i + 3, close, names, None)
            return close + 1, access
        if tokens[i] in ("class", "struct", "union", "enum"):
            opened = self.body_of_type(i, end)
            if opened is not None:
                return self.type(i, opened, end, names, owner, access), access
        return self.declaration(i, end, names, owner, access), access

    def skip_name(self, i):
        while re.match(r"\w|::", self.tokens[i]):
            i += 1
            if self.tokens[i] == "<":
                return angle_end(self.tokens, i)
        return i

    def namespace(self, i, end, names):
        tokens = self.tokens
        j = i
        while tokens[j] not in ("{", ";"):
            j += 1
        if tokens[j] == ";":
            return j + 1
        inner = [t for t in tokens[i:j] if t not in ("namespace", "inline", "::", "perdure")]
        close = closing(tokens, j)
        self.scope(j + 1, close, names + tuple(inner), None)
        return close + 1

    def body_of_type(self, i, end):
        """Returns the `{` of a type's definition that begins at `i`; None if it only declares something of the type."""
        j = i
        while j < end and self.tokens[j] not in ("{", ";", "(", "="):
            j = angle_end(self.tokens, j) if self.tokens[j] == "<" else j + 1
        return j if j < end and self.tokens[j] == "{" and not self.is_brace_initializer(i, j) else None

    def is_brace_initializer(self, i, j):
        """Matches `struct X x{...}`: two names before the brace, and no base."""
        words = [t for t in self.tokens[i + 1:j] if t not in ("final", "class", "struct")]
        return ":" not in words and len([t for k, t in enumerate(words) if re.match(r"\w", t) and (k == 0 or words[k - 1] not in ("::", "<"))]) > 1

    def type(self, i, opened, end, names, owner, access):
        tokens = self.tokens
        close = closing(tokens, opened)
        kind = tokens[i]
        if kind != "enum":
            head = [t for t in tokens[i + 1:opened] if t != "final"]
            if ":" in head:
                head = head[:head.index(":")]
            words = [t for t in head if re.match(r"[A-Za-z_]", t)]
            name = words[0] if words else "(unnamed)"
            if "::" in head:  # struct Outer::Inner {
                name = "::".join(words)
            found = Class(name, self.file, names)
            self.classes.append(found)
            self.scope(opened + 1, close, names + (name,), found, "private" if kind == "class" else "public")
        j = close + 1
        while j < end and tokens[j] != ";":
            j += 1
        declared = tokens[close + 1:j]
        if owner is not None and declared:
            self.add_members(owner, [kind] + declared, access)
        return j + 1

    def declaration(self, i, end, names, owner, access):
        tokens, text, j = self.tokens, [], i
        function = initialised = in_list = False
        while j < end and tokens[j] != ";":
            t = tokens[j]
            if t == "operator":  # operator(), operator<: its sign is a part of the name
                text.append(t)
                j += 1
                while tokens[j] != "(" or (tokens[j + 1] == ")" and tokens[j + 2] == "("):
                    j += 1
                    if tokens[j - 1] == "(":
                        j += 1
                continue
            if t == "<" and not function and not initialised:
                after = angle_end(tokens, j)
                text.extend(tokens[j:after])
                j = after
                continue
            if t == "(" and not initialised:
                after = closing(tokens, j)
                if tokens[j + 1] == "*":  # a pointer to a function: its name is in these parentheses, arguments follow
                    text.append(tokens[after - 1])
                    after = closing(tokens, after + 1) if tokens[after + 1] == "(" else after
                else:
                    function = True
                    text.extend(tokens[j:after + 1])
                j = after + 1
                continue
            if t == ":" and function and tokens[j - 1] in (")", "noexcept"):
                in_list = True
            if t == "=" :
                initialised = True
            if t == "{":
                after = closing(tokens, j)
                if function and not initialised and not (in_list and re.match(r"\w|>", tokens[j - 1])):
                    self.functions.append((name_of(text, names), self.lines[after] - self.lines[i] + 1))
                    inside = bisect_right(self.branches, self.lines[after]) - bisect_left(self.branches, self.lines[i])
                    self.complexities.append((name_of(text, names), 1 + inside))
                    j = after + 1
                    break
                j = after + 1
                continue
            if t in ("(", "["):
                j = closing(tokens, j) + 1
                continue
            text.append(t)
            j += 1
        if j < end and tokens[j] == ";":
            j += 1
        self.note_types(text, names)
        if owner is not None:
            self.note(owner, text, function, access)
        return j

    def note_types(self, text, names):
        if text[:1] == ["using"] and "=" in text:
            self.aliases.append((names, text[1], text[text.index("=") + 1:]))
        for k in range(len(text) - 1):
            if text[k] == "Guarded" and text[k + 1] == "<":
                self.guarded.append((names, text[k + 2:angle_end(text, k + 1) - 1]))

    def note(self, owner, text, function, access):
        if not text or text[0] in ("using", "typedef", "friend", "static_assert", "class", "struct", "union", "enum"):
            return
        if function:
            before = text[:next(k for k, t in enumerate(top_level(text)) if t == "(")]
            name = before[-1] if before else ""
            if "operator" in text or "~" in before or "explicit" in before or name == owner.name.split("::")[-1]:
                return
            if text[-2:] in (["=", "default"], ["=", "delete"]):
                return
            if access == "public":
                owner.methods.append(name)
            return
        if "static" in text:
            return
        self.add_members(owner, text, access)

    def add_members(self, owner, text, access):
        pieces, current, depth = [], [], 0
        for t in text:
            depth += (t in ("<", "(", "[", "{")) - (t in (">", ")", "]", "}"))
            if t == "," and depth == 0:
                pieces.append(current)
                current = []
            else:
                current.append(t)
        pieces.append(current)
        kind = None
        for piece in pieces:
            if "=" in piece:
                piece = piece[:piece.index("=")]
            if ":" in piece:  # a bit field
                piece = piece[:piece.index(":")]
            if not piece:
                continue
            if kind is None:
                kind = " ".join(piece[:-1])
            owner.members.append((piece[-1], kind))
            if access == "public":
                owner.parts.append(kind)
            owner.hides = owner.hides or access != "public"
