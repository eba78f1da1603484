# SPDX-License-Identifier: BSD-3-Clause
"""Rule `order`: a folder includes itself and what stands left of it, so no two folders of the first level need each other.

`cli` includes nothing of bench/, although bench/measure stands left of it; flow and apps include public headers only, beside
their own, and apps also cli/, whose commands they are. Folders of kernels for a GPU (`rows_gpu`, `grid_gpu`, …) do not include those of another family.
"""
import posixpath

from . import public
from .tree import Source, Tree

LIBRARY = "base comm report stencil matrix io schedule factor sweep precond krylov newton solve problem".split()
ORDER = [*(f"echelon/{name}" for name in LIBRARY), public.UMBRELLA, "bench/measure", "cli", "bench/program", "echelon/flow",
         "apps"]
ORDERED = ("echelon", "bench/measure", "bench/program", "cli", "apps")
PUBLIC_ONLY = ("echelon/flow", "apps")
# What the families of a step share; and where they are brought together.
SHARED_FAMILIES = ("blocks_gpu",)
JOINING_FAMILIES = ("ilu_gpu",)


def room(path: str) -> str:
    """The place of a file in the order, or what would need one: the first two folders, of cli and apps the first."""
    parts = path.split("/")
    return parts[0] if parts[0] in ("cli", "apps") else "/".join(parts[:2])


def family(path: str) -> str:
    """The second-level folder of a file, where it is one of kernels for a GPU."""
    parts = path.split("/")
    return parts[2] if parts[0] == "echelon" and len(parts) > 3 and parts[2].endswith("_gpu") else ""


def own_includes(tree: Tree) -> list[tuple[Source, int, str]]:
    """What files in the order include of this repository."""
    tops = {path for path in tree.folders if "/" not in path}
    found = []
    for source in tree.cpp(*ORDERED):
        for line, target in source.includes:
            beside = posixpath.normpath(posixpath.join(source.folder, target))
            if target.split("/")[0] in tops or beside in tree.files:
                found.append((source, line, target if target.split("/")[0] in tops else beside))
    return found


def refusal(source: str, target: str, public_headers: list[str]) -> str:
    """Why this include is not allowed; empty if it is."""
    here, there = room(source), room(target)
    if here == "cli" and target.startswith("bench/"):
        return "cli/ includes nothing of bench/"
    if there not in ORDER:
        return f"{there} has no place in the order of folders"
    if ORDER.index(there) > ORDER.index(here):
        return f"{here} includes itself and what stands left of it, {there} stands right of it"
    if here == "apps" and there == "cli":
        return ""
    if here in PUBLIC_ONLY and there not in (*PUBLIC_ONLY, public.UMBRELLA) and target not in public_headers:
        return f"{here} includes public headers only, those of {public.LIST}"
    mine, its = family(source), family(target)
    if mine and its and mine != its and mine not in JOINING_FAMILIES and its not in SHARED_FAMILIES:
        return f"{mine} includes of other families only {', '.join(SHARED_FAMILIES)}"
    return ""


def check(tree: Tree):
    homeless = {room(source.path) for source in tree.cpp(*ORDERED)} - set(ORDER)
    for folder in sorted(homeless):
        yield folder, 1, f"has no place in the order of folders: {', '.join(ORDER)}"
    public_headers = public.listed(tree)
    for source, line, target in own_includes(tree):
        why = "" if room(source.path) in homeless else refusal(source.path, target, public_headers)
        if why:
            yield source.path, line, f"includes {target}; {why}"


def circle(tree: Tree) -> list[str]:
    """The folders that include each other, directly or by way of others."""
    graph: dict[str, set[str]] = {}
    for source, _, target in own_includes(tree):
        if room(source.path) != room(target):
            graph.setdefault(room(source.path), set()).add(room(target))

    def reached(start: str) -> set[str]:
        seen, waiting = set(), [start]
        while waiting:
            for after in graph.get(waiting.pop(), set()) - seen:
                seen.add(after)
                waiting.append(after)
        return seen

    return sorted(folder for folder in graph if folder in reached(folder))
