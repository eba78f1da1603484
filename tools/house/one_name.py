# SPDX-License-Identifier: BSD-3-Clause
"""Rule `types`: no type is defined in two files of one namespace: a program that uses both has one weak symbol for two things.

A scanner that knows just enough C++: it follows braces, names those of namespaces, and takes a class, struct, union or enum for
defined where its head ends in { at the scope of a namespace. Left alone: unnamed namespaces, specialisations, functions' and
classes' own types, two definitions in one file (the compiler sees those). A stub for builds without CUDA (…_absent.cpp) and a
file for builds with it (.cu, .cuh) never meet.
"""
import re

from .tree import Source, Tree, line_of

FOLDERS = ("echelon", "cli", "bench/program", "bench/measure")
KEYS = ("struct", "class", "union", "enum")
BEFORE_KEY = ("inline", "static", "constexpr", "const", "typedef", "extern", "export")
ATTRIBUTES = ("alignas", "__align__", "__attribute__")
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
TOKEN = re.compile(r"\w+|::|[{};(),<>=:\[\]]|[^\s\w]")


class Lost(Exception):
    """The braces of a file do not close."""


def after_group(head: list[str], opening: str, closing: str) -> list[str]:
    """What follows the group that the head begins with."""
    depth = 0
    for place, token in enumerate(head):
        depth += (token == opening) - (token == closing)
        if depth == 0:
            return head[place + 1:]
    return []


def without_attributes(head: list[str]) -> list[str]:
    while head and head[0] in ("[", *ATTRIBUTES):
        head = after_group(head, "[", "]") if head[0] == "[" else after_group(head[1:], "(", ")")
    return head


def without_introduction(head: list[str]) -> list[str]:
    """A declaration without template<…>, requires, attributes and macros in capitals."""
    while head:
        if head[0] == "template":
            head = after_group(head[1:], "<", ">")
        elif head[0] == "requires":
            first = next((i for i, token in enumerate(head) if token in KEYS), len(head))
            head = head[first:]
        elif head[0] in BEFORE_KEY:
            head = head[1:]
        elif head[0].isupper():
            head = after_group(head[1:], "(", ")") if head[1:2] == ["("] else head[1:]
        elif head[0] in ("[", *ATTRIBUTES):
            head = without_attributes(head)
        else:
            break
    return head


def type_name(head: list[str]) -> str:
    """The type that a head before { defines; empty for anything else and for a specialisation."""
    head = without_introduction(head)
    if not head or head[0] not in KEYS:
        return ""
    head = without_attributes(head[2:] if head[:2] in (["enum", "class"], ["enum", "struct"]) else head[1:])
    is_type = head and re.fullmatch(r"[A-Za-z_]\w*", head[0]) and (len(head) == 1 or head[1] in (":", "final"))
    return head[0] if is_type else ""


def namespace_name(head: list[str]) -> str | None:
    """`a::b` of `namespace a::b {`, empty for an unnamed one; None for anything else."""
    head = [token for token in without_introduction(head) if token != "inline"]
    return "".join(head[1:]) if head[:1] == ["namespace"] else None


def plain_code(source: Source) -> str:
    """Without directives; of #if and its alternatives only the first, lest an opening brace counts twice."""
    kept, skipped, done, nested = [], False, 0, []
    for m in DIRECTIVE.finditer(source.code):
        between = source.code[done:m.start()]
        kept.append("\n" * between.count("\n") if skipped else between)
        kept.append("\n" * m[0].count("\n"))
        done = m.end()
        if m[1] in ("if", "ifdef", "ifndef"):
            nested.append(skipped)
        elif m[1] in ("else", "elif") and nested:
            skipped = True
        elif m[1] == "endif" and nested:
            skipped = nested.pop()
    return "".join(kept) + source.code[done:]


def definitions(source: Source) -> list[tuple[str, str, int]]:
    """Namespace, name and line of each type that the file defines at the scope of a namespace."""
    text = plain_code(source)
    found, head = [], []
    scopes: list[str | None] = []  # of each open brace: the namespace within it, or None
    for m in TOKEN.finditer(text):
        token = m[0]
        inside = scopes[-1] if scopes else ""
        if token == "}":
            if not scopes:
                raise Lost
            scopes.pop()
            head = []
        elif inside is None:
            if token == "{":
                scopes.append(None)
        elif token == "{":
            name = namespace_name(head)
            if name is not None:
                scopes.append("::".join(filter(None, (inside, name or "(unnamed)"))))
            elif head[:1] == ["extern"]:
                scopes.append(inside)
            else:
                if type_name(head):
                    found.append((inside, type_name(head), line_of(text, m.start())))
                scopes.append(None)
            head = []
        elif token == ";":
            head = []
        else:
            head.append(token)
    if scopes:
        raise Lost
    return found


def meet(one: str, other: str) -> bool:
    """Whether two files can be part of one build."""
    absent, cuda = "_absent.cpp", (".cu", ".cuh")
    return not (one.endswith(absent) and other.endswith(cuda) or one.endswith(cuda) and other.endswith(absent))


def check(tree: Tree):
    first: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for source in tree.cpp(*FOLDERS):
        try:
            types = definitions(source)
        except Lost:
            yield source.path, 1, "its braces do not close, so its types cannot be told"
            continue
        for namespace, name, line in types:
            if "(unnamed)" in namespace or namespace.split("::")[0] != "echelon":
                continue
            places = first.setdefault((namespace, name), [])
            for path, where in places:
                if path != source.path and meet(path, source.path):
                    yield source.path, line, (f"{namespace}::{name} is defined in {path}:{where} too; "
                                              "one name in one namespace is one type")
            places.append((source.path, line))
