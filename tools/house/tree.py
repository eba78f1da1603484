# SPDX-License-Identifier: BSD-3-Clause
"""The files of a repository, each read once, with comments, strings and code told apart."""
import ast
import functools
import io
import os
import pathlib
import re
import tokenize

CPP = (".hpp", ".cpp", ".cu", ".cuh", ".inl", ".cpp.in", ".cu.in")
SOURCES = (*CPP, ".py")
# At the root: what is built, and what lies beside a checkout. Hidden folders are left out everywhere but for CI's script.
OUTPUTS = ("build", "carry", "shared")

# Comments, raw strings, strings and characters; the ' within 1'000 opens none. Each begins with a plain letter, which is what
# makes Python's search for the next one fast.
LEXEME = re.compile(
    r"//(?:[^\n\\]|\\.)*|/\*.*?\*/"
    r'|"(?<=R")([^()\\\s]{0,16})\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"'
    r"|'(?<![0-9A-Fa-f]')(?:[^'\\\n]|\\.)+'", re.DOTALL)
INCLUDE = re.compile(r"""^[ \t]*#[ \t]*(?:include[ \t]*|define[ \t]+HWY_TARGET_INCLUDE[ \t]*)["<]([^">\n]+)[">]""")


def line_of(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


class Source:
    """One file. `bare` is its C++ without comments, `code` also without what strings say; both keep every line's number."""

    def __init__(self, root: pathlib.Path, path: str):
        self.path = path
        self.folder, _, self.name = path.rpartition("/")
        self._file = root / path

    @functools.cached_property
    def text(self) -> str:
        return self._file.read_text(encoding="utf-8", errors="replace")

    @functools.cached_property
    def lines(self) -> int:
        return self.text.count("\n") + (not self.text.endswith("\n") and self.text != "")

    @functools.cached_property
    def _parts(self) -> tuple[str, str, list[tuple[int, str]]]:
        bare, code, comments, done, line = [], [], [], 0, 1
        for m in LEXEME.finditer(self.text):
            between, found = self.text[done:m.start()], m[0]
            done, line = m.end(), line + between.count("\n")
            empty = "\n" * found.count("\n")
            if found[0] == "/":
                comments.append((line, found))
            bare += between, empty or " " if found[0] == "/" else found
            code += between, empty or " " if found[0] == "/" else '""' + empty
            line += len(empty)
        rest = self.text[done:]
        return "".join(bare) + rest, "".join(code) + rest, comments

    @property
    def bare(self) -> str:
        return self._parts[0]

    @property
    def code(self) -> str:
        return self._parts[1]

    @functools.cached_property
    def includes(self) -> list[tuple[int, str]]:
        """Line and path, as written, of what the file includes and of what Highway includes again for it."""
        return [(number, m[1]) for number, line in enumerate(self.bare.split("\n"), 1)
                if "#" in line and (m := INCLUDE.match(line))]

    @functools.cached_property
    def comments(self) -> list[tuple[int, str]]:
        """Line and words of each comment; a document is one, a script's and a build file's begin with #."""
        if self.name.endswith(".md"):
            return [(1, self.text)]
        if self.name.endswith(CPP):
            return self._parts[2]
        if self.name.endswith(".py") or self.text.startswith(("#!/usr/bin/python3", "#!/usr/bin/env python3")):
            return python_comments(self.text)
        if self.name in ("CMakeLists.txt", "Makefile") or self.name.endswith(".cmake") or self.text.startswith("#!"):
            return [(line_of(self.text, m.start()), m[0]) for m in re.finditer(r"(?:^|(?<=\s))#[^\n]*", self.text)]
        return []


def python_comments(text: str) -> list[tuple[int, str]]:
    found = [(token.start[0], token.string) for token in tokenize.generate_tokens(io.StringIO(text).readline)
             if token.type == tokenize.COMMENT]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node, clean=False):
            found.append((node.body[0].lineno, ast.get_docstring(node, clean=False)))
    return found


class Tree:
    def __init__(self, root: pathlib.Path):
        self.root = root
        self.files: dict[str, Source] = {}
        self.folders: set[str] = set()
        for place, folders, names in os.walk(root):
            here = pathlib.Path(place).relative_to(root).as_posix()
            here = "" if here == "." else here + "/"
            folders[:] = sorted(f for f in folders if f != "__pycache__" and (not f.startswith(".") or f == ".ci")
                                and not (here == "" and f.startswith(OUTPUTS)))
            self.folders.update(here + folder for folder in folders)
            self.files.update((here + name, Source(root, here + name)) for name in sorted(names))

    @functools.cached_property
    def sources(self) -> list[Source]:
        """C++, CUDA and Python, the tests' data apart."""
        return [s for path, s in self.files.items() if path.endswith(SOURCES) and not path.startswith("tests/data/")]

    def cpp(self, *folders: str) -> list[Source]:
        """C++ and CUDA under these folders."""
        under = tuple(folder + "/" for folder in folders)
        return [s for s in self.sources if s.path.endswith(CPP) and s.path.startswith(under)]
