# SPDX-License-Identifier: BSD-3-Clause
"""Rules `folders`, `files` and `instances`: how much stands in one place, and what the build writes instead of us."""
import collections
import re

from .tree import Source, Tree

MOST_FILES = 40
MOST_LINES = 500
FEW_LINES = 8
# An explicit instantiation, or a macro that makes one.
INSTANCE = re.compile(r"(?:extern )?template\b[^;{}]*;|\b[A-Z][A-Z0-9_]*\([^;{}]*?\);?")
FRAME = re.compile(r"[ \t]*#[^\n]*|\b(?:inline )?namespace[\w\s:]*\{|\}")


def files_of_folders(tree: Tree) -> dict[str, list[Source]]:
    """The sources in each folder itself, without those of its subfolders."""
    folders = collections.defaultdict(list)
    for source in tree.sources:
        folders[source.folder].append(source)
    return dict(folders)


def check_folders(tree: Tree):
    for folder, files in files_of_folders(tree).items():
        if len(files) > MOST_FILES:
            yield folder or ".", 1, f"{len(files)} source files in one folder; at most {MOST_FILES}"


def check_files(tree: Tree):
    for source in tree.sources:
        if source.lines > MOST_LINES:
            yield source.path, MOST_LINES + 1, f"{source.lines} lines; at most {MOST_LINES} a source file"


def only_instantiates(source: Source) -> bool:
    """Nothing but includes, macros, namespaces and instances: of a stub for a build without CUDA, a function is left."""
    is_small = source.path.endswith((".cpp", ".cu")) and source.lines <= FEW_LINES
    return is_small and not INSTANCE.sub("", FRAME.sub("", source.bare)).strip()


def small_instances(tree: Tree) -> list[Source]:
    return [source for source in tree.cpp("echelon") if only_instantiates(source)]


def check_instances(tree: Tree):
    for source in small_instances(tree):
        yield source.path, 1, f"{source.lines} lines that only instantiate; the build writes such files from one template"
