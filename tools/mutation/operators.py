"""Generates changes: small mistakes of the kind that people make. Each change is an alternative for a region of the
source: an expression, a statement, or the beginning of a function's body."""
import dataclasses
import re

SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>="}
JUMPS = {"break", "continue"}
KEYWORDS = {"if", "for", "while", "do", "switch", "case", "default", "else", "using", "typedef", "static_assert", "try", "catch", "goto", "delete", "throw",
            "template", "class", "struct", "enum", "namespace", "friend", "static", "constexpr", "const", "auto", "new", "co_return", "co_await"}
NO_PROMISE = ("os::crash_point", "crash_point", "PERDURE_TRY")  # a hook of tests; a declaration
ONLY_SPEED = re.compile(r"[\w.\->]+(\.|->)reserve\(.*\)")  # room for a container's elements: it grows without
# For equal numbers the result is 0 either way.
DIFFERENCE_OR_ZERO = re.compile(r"(?P<a>.+?) >=? (?P<b>.+?) \? (?P=a) - (?P=b) : 0(?!\w)")


@dataclasses.dataclass
class Change:
    path: str
    line: int
    what: str  # for people: "< becomes <="
    begin: int  # of the region in the source
    end: int
    kind: str  # "expression", "condition", "statement" or "beginning"
    text: str  # the new text of the region
    number: int = 0
    listed: bool = False

    def name(self):
        return f"{self.path}:{self.line}: {self.what}"

    def key(self):
        """Returns a key that is equal for the same change of the same text, wherever it is now."""
        return f"{self.path}|{self.what}|{self.kind}|{self.text}"


def spaced(source, i):
    token, text = source.tokens[i], source.text
    return text[token.begin - 1 : token.begin].isspace() and text[token.end : token.end + 1].isspace()


def is_block(source, i):
    return source.is_text(i, "{") and source.braces[i] in ("block", "body")


def region_of(source, i):
    """Returns the smallest expression around token i that can be replaced as a whole. It is given by the index of its
    first token and the index after its last; None: there is none."""
    tokens = source.tokens
    outer = tokens[i].outer
    block = is_block(source, outer)
    if source.is_text(outer, "(") and source.is_text(outer - 1, "for") and not any(
            t.text == ";" for t in tokens[outer + 1 : tokens[outer].other] if t.outer == outer):
        return None  # for (auto& x : xs)
    begin = i
    while begin - 1 > outer:
        before = tokens[begin - 1]
        if before.text in CLOSERS and before.outer == outer:
            if block and before.text == "}" and is_block(source, before.other) and source.braces[before.other] == "block":
                break
            if block and before.text == ")" and source.is_text(before.other - 1, "if", "for", "while", "switch"):
                break
            begin = before.other
            continue
        if before.text in (";", "return", "else") or before.text in ASSIGNMENTS or (before.text == "," and not block):
            break
        begin -= 1
    end = i
    while end < len(tokens) and not (tokens[end].outer == outer and tokens[end].text in ((";",) if block else (";", ","))) and end != tokens[outer].other:
        end += 1
    if begin >= end or tokens[begin].text == "{":
        return None
    first = statement_begin(source, begin)
    if first is not None and tokens[first].text in ("static_assert", "constexpr", "static", "using", "case"):
        return None
    return begin, end


CLOSERS = {")", "]", "}"}


def statement_begin(source, i):
    """Returns the first token of the statement that contains token i; None outside of blocks."""
    while i >= 0 and not is_block(source, source.tokens[i].outer):
        i = source.tokens[i].outer
    if i < 0:
        return None
    outer = source.tokens[i].outer
    while i - 1 > outer and source.tokens[i - 1].text not in (";", "{", "}"):
        i = source.tokens[i - 1].other if source.tokens[i - 1].text in (")", "]") else i - 1
    return i


def expression_change(source, i, replacement, what):
    region = region_of(source, i)
    if region is None:
        return None
    begin, end = source.tokens[region[0]].begin, source.tokens[region[1] - 1].end
    token = source.tokens[i]
    before, after = source.flat(begin, token.begin), source.flat(token.end, end)
    return Change(source.path, source.line(token.begin), what, begin, end, "expression", f"{before} {replacement} {after}".strip())


def operators(source):
    for i, token in enumerate(source.tokens):
        if not source.in_function(token.outer):
            continue
        change = None
        if token.text in SWAPS and spaced(source, i) and not source.is_text(i - 1, "operator", "return", ",", "(", "="):
            if token.text in "+-" and speaks(source, i) or token.text in (">", ">=") and chooses_difference_or_zero(source, i):
                continue
            change = expression_change(source, i, SWAPS[token.text], f"{token.text} becomes {SWAPS[token.text]}")
        elif token.text == "!":
            change = expression_change(source, i, "!!", "! is left out")
        if change:
            yield change


def speaks(source, i):
    """Whether the expression around token i composes text."""
    region = region_of(source, i)
    if region is None:
        return True
    near = source.tokens[region[0] : region[1]]
    return any(t.kind == "text" or t.text in ("to_string", "string", "text", "hex") for t in near if t.outer == source.tokens[i].outer or t.kind == "text")


def chooses_difference_or_zero(source, i):
    """Matches `a > b ? a - b : 0` around token i."""
    region = region_of(source, i)
    return region is not None and DIFFERENCE_OR_ZERO.fullmatch(source.flat(source.tokens[region[0]].begin, source.tokens[region[1] - 1].end)) is not None


def conditions(source):
    """`if (found)` becomes `if (!(found))`, unless an operator of the condition is changed anyway."""
    for i, token in enumerate(source.tokens):
        if token.text not in ("if", "while") or not source.is_text(i + 1, "(") or not source.in_function(token.outer):
            continue
        close = source.tokens[i + 1].other
        inside = [k for k in range(i + 2, close) if source.tokens[k].outer == i + 1]
        first = max([k + 1 for k in inside if source.tokens[k].text == ";"], default=i + 2)
        top = [source.tokens[k].text for k in inside if k >= first]
        if any(text in SWAPS and text not in "+-<>" or text in ("!", "=", "<=") for text in top) or any(
                source.tokens[k].text in "<>" and spaced(source, k) for k in inside if k >= first):
            continue
        begin, end = source.tokens[first].begin, source.tokens[close - 1].end
        yield Change(source.path, source.line(begin), f"the condition is turned round: {source.flat(begin, end)}", begin, end, "condition",
                     f"!({source.flat(begin, end)})")


def is_expression(source, begin, end):
    """Whether the statement of these tokens computes something, and declares nothing."""
    tokens = source.tokens
    text = source.flat(tokens[begin].begin, tokens[end - 1].end)
    if tokens[begin].text in KEYWORDS or tokens[begin].kind in ("text", "number") or text.startswith(NO_PROMISE) or ONLY_SPEED.fullmatch(text):
        return False
    if tokens[begin].text in ("return", *JUMPS):
        return end == begin + 1
    head = re.sub(r"^(\(void\)|\+\+|--)", "", text)
    return re.match(r"[A-Za-z_][\w:]*(<[\w:, ]*>)?((\.|->)[A-Za-z_]\w*|\[[^\]]*\]|\([^()]*\))*\s*(\(|[-+*/%|&^]?= |\+\+|--|$)", head) is not None


def statements(source):
    """Omits a statement: what it changed stays as it was."""
    tokens = source.tokens
    for end, token in enumerate(tokens):
        if token.text != ";" or not is_block(source, token.outer):
            continue
        begin = statement_begin(source, end)
        while source.is_text(begin, "if", "for", "while", "else"):
            begin += 1 if source.is_text(begin, "else") else 0
            if source.is_text(begin, "if", "for", "while"):
                begin = tokens[begin + (2 if source.is_text(begin + 1, "constexpr") else 1)].other + 1
        if begin >= end or not is_expression(source, begin, end):
            continue
        text = source.flat(tokens[begin].begin, token.begin)
        shown = text if len(text) < 90 else text[:87] + "..."
        yield Change(source.path, source.line(tokens[begin].begin), f"left out: {shown}", tokens[begin].begin, token.end, "statement", "")


def bodies(source):
    """Makes a function return at once."""
    for i, kind in source.braces.items():
        if kind != "body" or source.in_function(source.tokens[i].outer) or source.tokens[i].other == i + 1:
            continue
        first = source.declaration_begin(i)
        words = [t.text for t in source.tokens[first:i]]
        if "(" not in words or "operator" in words or "constexpr" in words or "template" in words:
            continue
        name = words[words.index("(") - 1]
        prefix = words[: words.index("(") - 1]
        constructs = not [w for w in prefix if w != "explicit"] or (len(prefix) >= 2 and prefix[-1] == "::" and prefix[-2] == name and len(prefix) == 2) or "~" in prefix
        if constructs:
            continue
        value = "" if "void" in prefix else "{}"
        position = source.tokens[i].end
        yield Change(source.path, source.line(source.tokens[first].begin), f"{name}() returns at once", position, position, "beginning", f"return {value};")


def constexpr_bodies(source):
    """Finds code that the compiler evaluates, where no switch can be on."""
    for i, kind in source.braces.items():
        if kind == "body" and not source.in_function(source.tokens[i].outer) and "constexpr" in [t.text for t in source.tokens[source.declaration_begin(i) : i]]:
            yield source.tokens[i].begin, source.tokens[source.tokens[i].other].end


def changes_of(source):
    found = [*operators(source), *conditions(source), *statements(source), *bodies(source)]
    computed = list(constexpr_bodies(source))
    found = [change for change in found if not any(begin <= change.begin < end for begin, end in computed)]
    return sorted(found, key=lambda change: (change.begin, -change.end, change.what))
