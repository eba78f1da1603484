# SPDX-License-Identifier: BSD-3-Clause
"""Odd command lines: each is refused with a sentence and touches nothing, or does what it says."""
import itertools
import os

from .runs import Case, RHS, SMALL

BASE = {"A.mtx": SMALL.encode(), "b.mtx": RHS.encode()}
TINY = ["solve", "--grid", "4"]


def usage(name: str, line: list[str], **more) -> Case:
    more.setdefault("inputs", BASE)
    return Case(name, line, {2}, **more)


def illegal_values() -> list[Case]:
    numbers = {"--rtol": ["-1", "2", "nan", "inf", "x", "", "1e-8x", "1,5"], "--atol": ["-1", "nan", "inf", "x"],
               "--max-it": ["-1", "1.5", "x", "1e3", "99999999999999999999"], "--restart": ["0", "-1", "x", "1000000"],
               "--threads": ["-1", "x", "1.5", "100000"], "--fill": ["-1", "101", "x", "0.5"], "--drop": ["-1", "2", "x"],
               "--lfil": ["-1", "x", "99999999999"], "--shift": ["-1", "0", "x", "nan", "inf", "1e400"],
               "--time-limit": ["-1", "x", "nan"], "--block": ["0", "-1", "65", "x"], "--dof": ["0", "65"], "--damping": ["0", "2"],
               "--sweeps": ["0", "-1"], "--column-pivoting": ["-1", "2"], "--seed": ["-1", "x"], "--peclet": ["-1", "nan"],
               "--grid": ["0", "-1", "x", "4x", "4x4x4x4", "99999999999", "4X", "1e2", " ", ""]}
    words = {"--problem": ["", "Poisson", "poison"], "--solver": ["", "CG", "gmress", "minres"], "--pc": ["", "ILU", "illu"],
             "--stencil": ["star8", ""], "--ordering": ["rmc"], "--trisolve": ["exakt"], "--backend": ["gpu"], "--null-space": ["const"],
             "--duplicates": ["add"], "--factor-precision": ["fp128"], "--schedule": ["level"]}
    cases = []
    for name, values in itertools.chain(numbers.items(), words.items()):
        for value in values:
            needed = ["--matrix", "A.mtx"] if name in ("--block", "--duplicates") else ["--problem", "random"] if name == "--dof" else []
            cases.append(usage(f"{name}={value!r}", ["solve", *needed, f"{name}={value}"]))
    return cases


def slips() -> list[Case]:
    lines = [[], ["solv"], ["--grid", "8"], ["solve", "solve"], ["solve", "--gird", "8"], ["solve", "-grid", "8"], ["solve", "--grid"],
             ["solve", "A.mtx"], ["solve", "--", "--grid", "8"], ["solve", "--grid", "8", "--", "x"], ["solve", "--grid", "8", "extra"], ["solve", "-x"],
             ["solve", "-ksp_pc_side", "up"], ["solve", "-ksp_type", "nosuch"], ["solve", "-ksp_foo", "1"], ["solve", "-pc_type"],
             ["-ksp_pc_side", "right"], ["-ksp_monitor", "false"], ["-ksp_monitor"], ["-pc_type", "ilu"], ["check"], ["check", "A.mtx", "b.mtx"],
             ["check", "--matrix", "A.mtx"], ["bench"], ["bench", "nosuch"], ["bench", "trsv", "--from", "nothere.json"], ["info", "extra"],
             ["selftest", "--threads", "-1"], ["hpcg", "--grid", "20"], ["hpcg", "--seconds", "nan"], ["cavity"], ["solve", "--tune"], ["solve", "--pc", "amg"], ["solve", "--grid=8=8"],
             ["solve", "--grid", "8", "--grid"], [""], ["solve", ""], ["solve", "\x1b[31m"], ["solve", "--\xff\xfe".encode("latin-1").decode("utf-8", "surrogateescape")],
             ["solve", "-qv"], ["solve", "-q", "-v"], ["solve", "--quiet=maybe"], ["solve", "@file"], ["solve", "--config", "x"]]
    return [usage(f"line {line!r}", line) for line in lines]


def contradictions() -> list[Case]:
    lines = [["--matrix", "A.mtx", "--grid", "4"], ["--matrix", "A.mtx", "--problem", "poisson"], ["--block", "2"], ["--recognise", "off"],
             ["--pc", "jacobi", "--fill", "1"], ["--pc", "none", "--shift", "1"], ["--pc", "ilut", "--fill", "1"], ["--pc", "ilu", "--drop", "0.1"],
             ["--pc", "ic", "--match-rows"], ["--solver", "cg", "--match-rows", "--pc", "ilu"], ["--strict", "--shift", "auto"],
             ["--sweeps", "3"], ["--pc", "parilut", "--fill", "1"], ["--factor-sweeps", "3"], ["--trisolve", "neumann", "--damping", "0.5"],
             ["--problem", "convdiff", "--grid", "4", "--pc", "ic"], ["--problem", "euler", "--stencil", "star5"]]
    return [usage(f"contradiction {' '.join(line)}", ["solve", *line]) for line in lines]


def no_file_names() -> list[Case]:
    cases = []
    for option in ("--matrix", "--rhs", "--solution", "--json", "--history", "--plot"):
        start = ["solve"] if option == "--matrix" else TINY
        cases.append(usage(f"{option} with an empty name", [*start, option, ""]))
        cases.append(usage(f"{option}= with nothing", [*start, f"{option}="]))
        cases.append(usage(f"{option} followed by an option", ["solve", option, "--quiet"]))
    cases.append(usage("--json swallows --matrix", ["solve", "--json", "--matrix", "A.mtx"]))
    cases += [usage(f"{' '.join(line)} with an empty name", [*line, ""]) for line in
              (["check"], ["check", "A.mtx", "--json"], ["info", "--json"], ["selftest", "--json"], ["hpcg", "--report"], ["bench", "trsv", "--small", "--json"])]
    return cases


def collisions() -> list[Case]:
    """Outputs that would replace an input or each other, in every spelling, order and command."""
    def link(folder) -> None:
        os.symlink("A.mtx", folder / "soft.mtx")
        os.link(folder / "A.mtx", folder / "hard.mtx")
    cases = []
    for option in ("--json", "--solution", "--history", "--plot"):
        for name in ("A.mtx", "./A.mtx", "soft.mtx", "hard.mtx"):
            for first in (["--matrix", "A.mtx"], ["--matrix=A.mtx"]):
                for last in ([option, name], [f"{option}={name}"]):
                    for line in (first + last, last + first):
                        cases.append(usage(f"collision {' '.join(line)}", ["solve", *line], prepare=link))
    more = [["solve", "--matrix", "A.mtx", "--rhs=b.mtx", "--json", "b.mtx"], ["solve", "--rhs", "b.mtx", "--json=b.mtx", "--grid", "2"],
            ["solve", "--bogus", "--matrix", "A.mtx", "--json=A.mtx"], ["solve", "--bogus", "--json", "A.mtx", "--matrix=A.mtx"],
            ["check", "A.mtx", "--json", "A.mtx"], ["check", "A.mtx", "--json=soft.mtx"], ["check", "--json", "hard.mtx", "A.mtx"],
            ["bench", "trsv", "--from", "A.mtx", "--plot", "A.mtx"], ["bench", "trsv", "--from=A.mtx", "--json=A.mtx"],
            ["solve", "--grid", "4", "--json", "x", "--solution", "x"], ["solve", "--grid", "4", "--json", "x", "--plot=./x"],
            ["solve", "--grid", "4", "--json", "-", "--solution", "-"], ["-ksp_type", "cg", "solve", "--matrix", "A.mtx", "--json=A.mtx"],
            ["solve", "--matrix", "A.mtx", "--rtol", "x", "--json=A.mtx"], ["bogus", "--matrix", "A.mtx", "--json=A.mtx"]]
    return cases + [usage(f"collision {' '.join(line)}", line, prepare=link) for line in more]


def allowed_lines() -> list[Case]:
    def first_line(ended) -> list[tuple[str, str]]:
        return [] if ended.out.startswith("%%MatrixMarket") else [("output", ended.out[:60])]

    def is_json(ended) -> list[tuple[str, str]]:
        return [] if ended.out.startswith("{") else [("output", ended.out[:60])]
    fine = {0}
    return [Case("a repeated option", ["solve", "--grid", "x", "--grid", "4"], {0, 2}), Case("--help", ["--help"], fine), Case("solve --help", ["solve", "--help"], fine),
            Case("--version", ["--version"], fine), Case("solution to standard output", [*TINY, "--solution", "-"], fine, check=first_line),
            Case("report to standard output", [*TINY, "--json", "-"], fine, check=is_json),
            Case("/dev/null twice", [*TINY, "--solution", "/dev/null", "--json", "/dev/null"], fine),
            Case("PETSc's spelling", [*TINY, "-ksp_type", "gmres", "-pc_type", "ilu", "-pc_factor_levels", "1", "-ksp_rtol", "1e-6"], fine),
            Case("-ksp_monitor false", [*TINY, "-ksp_monitor", "false"], fine), Case("-ksp_pc_side right", [*TINY, "-ksp_pc_side", "right"], fine),
            Case("a denormal shift", [*TINY, "--shift", "1e-320"], fine), Case("a time limit of 1e300", [*TINY, "--time-limit", "1e300"], fine), Case("no iterations", [*TINY, "--max-it", "0"], {1}),
            Case("a smallest grid", ["solve", "--grid", "1"], fine), Case("a title with control characters", ["solve", "--matrix", "\x1b[31m.mtx", "--plot", "p.svg"], fine,
                 inputs={"\x1b[31m.mtx": SMALL.encode()}, outputs={"p.svg"}, check=well_formed),
            Case("a title that is no UTF-8", ["solve", "--matrix", "\udcff.mtx", "--plot", "p.svg", "--json", "r.json"], fine,
                 inputs={"\udcff.mtx": SMALL.encode()}, outputs={"p.svg", "r.json"}, check=well_formed)]


def well_formed(ended) -> list[tuple[str, str]]:
    import xml.etree.ElementTree as xml
    try:
        xml.parse(ended.folder / "p.svg")
    except (xml.ParseError, OSError) as error:
        return [("picture", str(error))]
    return []


def cases(_: int) -> list[Case]:
    return illegal_values() + slips() + contradictions() + no_file_names() + collisions() + allowed_lines()
