# SPDX-License-Identifier: BSD-3-Clause
"""Rule `paths`: every file and folder that a comment or a document names is there.

Judged are words with / in them that begin with a folder of ours, also of echelon/ without that (`base/ordinal.hpp`), words that
end as our sources do (`ordinal.hpp` alone: anywhere), and the links of documents. A word without an ending is there if a folder
has that name or a file begins with it and . or _. * and … stand for anything, {a,b} for each of them. Not judged: what lies
outside of the repository, what is built, other libraries' headers, and PLACEHOLDERS.
"""
import posixpath
import re

from .order import LIBRARY
from .tree import CPP, OUTPUTS, Source, Tree

# What the reader puts something for, between the beginning, / _ or - and the next of them.
PLACEHOLDERS = re.compile(r"(?:^|[/_-])(?:name|NAME|X|TASK|CONTENDER|KIND|PEER|MACHINE)(?=[/_.-]|$)|<\w+>")
FOREIGN = ("hwy", "fmt", "nlohmann", "CLI", "cub", "thrust", "cuda", "gtest", "rapidcheck", "Eigen", "std", "sys")
NOT_READ = ("CHANGELOG.md", "tests/data/", "bench/results/")

PIECE = r"(?:[\w.*…+-]|\{[\w,.*-]+\}|<\w+>)+"
BEGIN = r"(?<![\w/.$~})>…*-])"
WORD = re.compile(rf"{BEGIN}{PIECE}(?:/{PIECE})+|{BEGIN}{PIECE}\.(?:[hc]pp|cuh?|inl|py)(?!\w)")
# As if every file stood in this folder, too: for names without one.
ANYWHERE = "anywhere/"
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")


def spread(word: str) -> list[str]:
    """a{b,c}d as abd, acd."""
    braces = re.search(r"\{([^{}]*)\}", word)
    if not braces:
        return [word]
    return [one for choice in braces[1].split(",") for one in spread(word[:braces.start()] + choice + word[braces.end():])]


class Shelf:
    """All files and folders of the tree, and the question whether something of a name is among them."""

    def __init__(self, tree: Tree):
        within = {path.split("/")[1] for path in tree.folders if path.startswith("echelon/")}
        self.first_words = {path for path in tree.folders if "/" not in path} | within | set(LIBRARY)
        anywhere = {ANYWHERE + posixpath.basename(path) for path in tree.files}
        self.all = {*tree.files, *tree.folders, *anywhere}
        self.beginnings = {path[:m.start()] for path in tree.files for m in re.finditer(r"(?<=\w)[._](?!.*/)", path)}
        self.listing = "\n" + "\n".join(self.all) + "\n"

    def has(self, path: str) -> bool:
        if "*" not in path and "…" not in path:
            return path in self.all or path in self.beginnings
        pattern = "".join("[^/\n]*" if c in "*…" else re.escape(c) for c in path)
        return re.search(rf"\n{pattern}(?:[._][^/\n]*)?\n", self.listing) is not None

    def finds(self, path: str, folder: str) -> bool:
        """From the root, from echelon/, from the folder of who names it, and from the folder of the first level above that."""
        bases = ("", "echelon", folder, folder.split("/")[0]) if "/" in path else (ANYWHERE,)
        return any(self.has(posixpath.normpath(posixpath.join(base, path))) for base in bases)

    def judged(self, word: str) -> bool:
        first = word.split("/")[0]
        if first in FOREIGN or first in OUTPUTS or PLACEHOLDERS.search(word):
            return False
        return word.endswith(CPP) or "/" in word and first in self.first_words


def named(source: Source):
    """Line and word for each word of the comments that may be a path."""
    for first_line, text in source.comments:
        for m in WORD.finditer(text):
            yield first_line + text.count("\n", 0, m.start()), m[0].replace("**", "").rstrip(".")


def links(source: Source):
    """Line and target of a document's links to files, seen from the root."""
    for m in LINK.finditer(source.text) if source.name.endswith(".md") else ():
        if "://" not in m[1]:
            yield source.text.count("\n", 0, m.start()) + 1, posixpath.normpath(posixpath.join(source.folder, m[1]))


def judged_paths(tree: Tree):
    """Source, line, path as named and whether it is there."""
    shelf = Shelf(tree)
    for source in tree.files.values():
        if source.path.startswith(NOT_READ):
            continue
        for line, path in links(source):
            if not path.startswith(".."):
                yield source, line, path, path in shelf.all
        for line, word in named(source):
            if word.startswith("../"):  # shared/, and links, which are judged above
                continue
            for path in spread(word) if shelf.judged(word) else ():
                yield source, line, path, shelf.finds(path, source.folder)


def count(tree: Tree) -> int:
    return sum(1 for _ in judged_paths(tree))


def check(tree: Tree):
    for source, line, path, is_there in judged_paths(tree):
        if not is_there:
            yield source.path, line, f"names {path}, which is not there"
