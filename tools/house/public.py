# SPDX-License-Identifier: BSD-3-Clause
"""Rule `public`: what a user gets by including echelon/echelon.hpp is what echelon/public-headers.txt lists."""
from .tree import Tree

UMBRELLA = "echelon/echelon.hpp"
LIST = "echelon/public-headers.txt"
HEAD = """\
# The public headers: all that echelon/echelon.hpp includes, also by way of others. tools/check-house holds this list;
# tools/check-house --write-public writes it anew.
"""


def closure(tree: Tree) -> list[str]:
    seen, waiting = set(), [UMBRELLA] if UMBRELLA in tree.files else []
    while waiting:
        for _, target in tree.files[waiting.pop()].includes:
            if target.startswith("echelon/") and target in tree.files and target not in seen:
                seen.add(target)
                waiting.append(target)
    return sorted(seen - {UMBRELLA})


def listed(tree: Tree) -> list[str]:
    lines = tree.files[LIST].text.splitlines() if LIST in tree.files else []
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def check(tree: Tree):
    if UMBRELLA not in tree.files:
        yield UMBRELLA, 1, "is not there"
        return
    if LIST not in tree.files:
        yield LIST, 1, "is not there: tools/check-house --write-public writes it"
        return
    reached, promised = closure(tree), listed(tree)
    if promised != sorted(set(promised)):
        yield LIST, 1, "is not sorted, or names a header twice"
    for path in sorted(set(reached) - set(promised)):
        yield LIST, 1, f"{path} is reached from {UMBRELLA} and not listed: list it, or do not include it from a public header"
    for path in sorted(set(promised) - set(reached)):
        yield LIST, 1, f"{path} is listed and not reached from {UMBRELLA}: include it there, or do not list it"


def write(tree: Tree) -> int:
    reached = closure(tree)
    (tree.root / LIST).write_text(HEAD + "".join(path + "\n" for path in reached))
    return len(reached)
