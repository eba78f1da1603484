# SPDX-License-Identifier: BSD-3-Clause
"""The house in numbers: what --table prints, of any commit, so that two can be laid side by side."""
from . import one_entry, one_name, order, paths, public, sizes
from .tree import Tree


def rows(tree: Tree) -> list[tuple[str, int, str]]:
    """What is counted, how many, which."""
    against = [path for path, _, _ in order.check(tree)]
    circle = order.circle(tree)
    largest = max(((len(files), folder) for folder, files in sizes.files_of_folders(tree).items()), default=(0, ""))
    compared = one_entry.comparisons(tree)
    return [
        ("includes against the order, in echelon/", sum(path.startswith("echelon/") for path in against), ""),
        ("includes against the order, elsewhere", sum(not path.startswith("echelon/") for path in against), ""),
        ("folders in a circle", len(circle), " ".join(circle)),
        ("files in the largest folder", *largest),
        (f"folders of more than {sizes.MOST_FILES} files", len(list(sizes.check_folders(tree))), ""),
        (f"files of more than {sizes.MOST_LINES} lines", len(list(sizes.check_files(tree))), ""),
        (f"files of at most {sizes.FEW_LINES} lines that only instantiate", len(sizes.small_instances(tree)), ""),
        ("types defined twice", len(list(one_name.check(tree))), ""),
        ("comparisons with a preconditioner's name", len(compared), f"on {len({one[:2] for one in compared})} lines"),
        ("paths named that are not there", len(list(paths.check(tree))), f"of {paths.count(tree)}"),
        ("public headers", len(public.closure(tree)), f"of {sum(s.path.endswith('.hpp') for s in tree.cpp('echelon'))}"),
    ]


def show(tree: Tree) -> None:
    folders = {folder or ".": (len(files), sum(one.lines for one in files))
               for folder, files in sizes.files_of_folders(tree).items()}
    folders["all"] = (sum(files for files, _ in folders.values()), sum(lines for _, lines in folders.values()))
    width = max(map(len, folders))
    print(f"{'folder':{width}}  files   lines")
    for folder, (files, lines) in folders.items():
        print(f"{folder:{width}} {files:6} {lines:7}")
    print()
    for what, count, which in rows(tree):
        print(f"{count:6}  {what}{': ' if which else ''}{which}")
