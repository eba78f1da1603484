# SPDX-License-Identifier: BSD-3-Clause
"""Rule `names`: what a preconditioner is or can do is asked of its entry, never by comparing with its name.

The names are those of the registry's table. A name, in quotes or by a constant that holds it, is compared where it stands
beside == or != or in strcmp; where it follows a preconditioner in a call's arguments (`one_of(pc, "ilu", "ic")`); where a
preconditioner is asked for it or a piece of it by starts_with and its like; and where it is all that a condition calls with
(`!tried("jacobi")`). `none` and `jacobi` are words of other options too (--shift none, --trisolve jacobi): beside == they count
where what they are compared with is called a preconditioner. Allowed are the registry, the rules of auto, and EXEMPT.
"""
import re

from .tree import Tree

FOLDERS = ("echelon", "cli", "bench/program")
REGISTRY = "echelon/precond/registry.cpp"
RULES_OF_AUTO = re.compile(r"(.*/)?auto_rule\w*\.cpp")
OTHER_OPTIONS_WORDS = ("none", "jacobi")
# A piece of an identifier, or a member, that says that a preconditioner's name is in it.
IS_PRECONDITIONER = re.compile(r"(^|_)(pc|precond\w*|preconditioner\w*|method|name)(_|$)")
# (path, piece of the line): why it may stand there.
EXEMPT: dict[tuple[str, str], str] = {
    ("bench/program/bench_cuda_figures.cpp", 'peer.method.starts_with("bsr")'): "cuSPARSE's routines of block rows, bsrsv2 and bsrilu02",
}

TABLE = re.compile(r"\b(?:PrecondEntry\s+\w+\s*\[\w*\]|std::(?:array|vector)<PrecondEntry\b[^>]*>\s+\w+)\s*=?\s*\{")
PIECE_OF_TABLE = re.compile(r'"((?:[^"\\\n]|\\.)*)"|[{}]')
CONSTANT = re.compile(r"\b(?:constexpr|constinit|inline const)\b[^;{}()=]*?\b(\w+)(?:\[\])?\s*[={]\s*"
                      r'"(\w+)"(?:sv|s)?\s*\}?\s*;')
OPERAND = r"""[\w.:>()\[\]-]*[\w)\]]"""


def names(tree: Tree) -> list[str]:
    """The first string of each entry."""
    registry = tree.files[REGISTRY].bare if REGISTRY in tree.files else ""
    table = TABLE.search(registry)
    found, depth, wanted = [], 1, False
    for m in PIECE_OF_TABLE.finditer(registry, table.end() if table else len(registry)):
        if m[1] is not None:
            if wanted and depth == 2:
                found.append(m[1])
            wanted = False
            continue
        depth += 1 if m[0] == "{" else -1
        if m[0] == "{" and depth == 2:
            wanted = True
        if depth == 0:
            break
    return found


def last_name(operand: str) -> str:
    """`name` of `std::string(report.name)`."""
    words = re.findall(r"[A-Za-z_]\w*", operand)
    return words[-1] if words else ""


def is_preconditioner(operand: str) -> bool:
    return bool(IS_PRECONDITIONER.search(last_name(operand)))


def means_one(name: str, operand: str) -> bool:
    return name not in OTHER_OPTIONS_WORDS or is_preconditioner(operand)


BESIDE = (re.compile(rf"({OPERAND})\s*[!=]=\s*$"), re.compile(rf"\bstrcmp\(({OPERAND}),\s*$"))
BESIDE_RIGHT = re.compile(rf"\s*[!=]=\s*({OPERAND})")
AMONG = re.compile(rf"\b\w+\(({OPERAND}),[^;()]*$")
ASKED = re.compile(rf"({OPERAND})(?:\.|->)(?:starts_with|ends_with|contains|r?find|compare)\([^()\"]*$")
CONDITION = re.compile(r"(?:\bif \(|\bwhile \(|!|&&|\|\|)\s*(?:\w+(?:\.|->|::))*(?!find|make)\w+\($")
# Around a name: what makes a string of it, the namespace of a constant.
WRAPPED = re.compile(r"(?:(?:std::)?string(?:_view)?[({]|(?:\w+::)+)$")


def is_compared(name: str, before: str, after: str, known: list[str]) -> bool:
    """Whether a name, or a piece of one, is compared with something, by what stands before and after it in its line."""
    wrapped = WRAPPED.search(before)
    before = before[:wrapped.start()] if wrapped else before
    after = after[1:] if wrapped and wrapped[0][-1] in "({" else after
    if name in known:
        for m in (*(pattern.search(before) for pattern in BESIDE), BESIDE_RIGHT.match(after)):
            if m and means_one(name, m[1]):
                return True
        m = AMONG.search(before)
        if m and is_preconditioner(m[1]) or CONDITION.search(before) and re.match(r"\)(?![.-])", after):
            return True
    m = ASKED.search(before)
    return bool(m and is_preconditioner(m[1]))


def is_exempt(path: str, line: str) -> bool:
    return any(path == its_path and piece in line for its_path, piece in EXEMPT)


def unbroken(text: str) -> str:
    """A comparison that goes over the end of a line stands on one; as many lines as before."""
    return re.sub(r'([!=]=) *\n *("\w+")', r"\1 \2\n", re.sub(r" *\n *([!=]= )", r" \1\n", text))


def comparisons(tree: Tree) -> list[tuple[str, int, str]]:
    """Path, line and name of each comparison that is not allowed."""
    known = names(tree)
    if not known:
        return []
    sources = [s for s in tree.cpp(*FOLDERS) if s.path != REGISTRY and not RULES_OF_AUTO.fullmatch(s.path)]
    constants = {constant: name for s in tree.cpp(*FOLDERS) for constant, name in CONSTANT.findall(s.bare) if name in known}
    word = re.compile("|".join([r'"(?P<quoted>\w\w+)"(?:sv|s)?', *(rf"\b{constant}\b" for constant in constants)]))
    found = []
    for source in sources:
        for number, line in enumerate(unbroken(source.bare).split("\n"), 1):
            for m in word.finditer(line):
                name = m["quoted"] or constants[m[0]]
                if not any(name in one for one in known) or is_exempt(source.path, line):
                    continue
                if is_compared(name, line[:m.start()], line[m.end():], known):
                    found.append((source.path, number, name))
    return found


def check(tree: Tree):
    if not names(tree):
        yield REGISTRY, 1, "no table of PrecondEntry with names is found here"
    for path, line, name in comparisons(tree):
        yield path, line, f"compares with a preconditioner's name, {name}; ask its entry in {REGISTRY}"
