#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Solves every matrix of an index by ILU(0), ILU(1), ILUT and the automatic choice, and checks each answer outside the program.

For each run: `echelon solve --matrix M` with b = A*1, rtol 1e-8, natural order, right preconditioning. The written x is read
back and ||b - A x|| / ||b|| recomputed with SciPy; `converged` with a residual above the tolerance is a false yes. Iterations
stand beside those of PETSc in INDEX.csv. Writes a Markdown table and a JSON file. The exit status is 1 when an answer was
false or a run crashed.
"""
import argparse
import csv
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import scipy.io
import scipy.sparse

import iteration_reference

ROOT = pathlib.Path(__file__).resolve().parent.parent
RTOL = 1e-8
GMRES = ["--solver", "gmres", "--restart", "50", "--ordering", "natural"]
RUNS = {
    "ilu0": GMRES + ["--pc", "ilu", "--fill", "0"],
    "ilu1": GMRES + ["--pc", "ilu", "--fill", "1"],
    "ilut": GMRES + ["--pc", "ilut", "--match-rows"],
    "jacobi": GMRES + ["--pc", "ilut", "--match-rows", "--trisolve", "jacobi"],
    "auto": ["--pc", "auto"],
}
PETSC_COLUMN = {"ilu0": "gmres50_ilu0", "ilu1": "gmres50_ilu1"}


def read_matrix(path):
    with gzip.open(path) as file:
        return scipy.sparse.csr_matrix(scipy.io.mmread(file), dtype=float)


def recomputed_residual(A, solution):
    x = numpy.asarray(scipy.io.mmread(solution)).ravel()
    b = A @ numpy.ones(A.shape[0])
    return float(numpy.linalg.norm(b - A @ x) / numpy.linalg.norm(b))


def run(program, path, options, A, folder):
    report_path, solution = folder / "report.json", folder / "x.mtx"
    for old in (report_path, solution):
        old.unlink(missing_ok=True)
    command = [str(program), "solve", "--matrix", str(path), *options, "--json", str(report_path), "--solution", str(solution), "-q"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode not in (0, 1, 2):
        return {"crashed": True, "exit": done.returncode, "stderr": done.stderr}
    report = json.loads(report_path.read_text())
    if "error" in report:
        return {"refused": report["error"], "exit": done.returncode}
    residual = recomputed_residual(A, solution)
    # Two correct sums of the same numbers differ by rounding that grows with |A||x|.
    rounding = 1e-13 * report["relative_residual"] / max(report["nrbe"] or 1, 1e-300)
    return {
        "exit": done.returncode,
        "converged": report["converged"],
        "reason": report["reason"],
        "iterations": report["iterations"],
        "relative_residual": report["relative_residual"],
        "relative_residual_scipy": residual,
        "nrbe": report["nrbe"],
        "solver": report["solver"],
        "choice": report["choice"]["name"],
        "attempts": [f"{a['name']}: {a['outcome']}" for a in report["choice"]["attempts"]],
        "seconds": report["seconds"]["setup"] + report["seconds"]["solve"],
        "perturbed_pivots": report["preconditioner"]["perturbed_pivots"],
        "shift": report["preconditioner"]["shift"],
        "false_yes": report["converged"] and residual > RTOL * 1.01 + rounding,
        "threads": report["backend"]["threads"],
        "trisolve": (report["preconditioner"]["trisolve"] or {}).get("used"),
    }


def cell(result):
    if "crashed" in result:
        return f"CRASH {result['exit']}"
    if "refused" in result:
        return "refused: " + result["refused"]["code"]
    if result["false_yes"]:
        return "FALSE YES"
    if result["converged"]:
        return str(result["iterations"])
    return f"no ({result['reason']}, {result['relative_residual']:.0e})"


def agreement(result, petsc):
    """Within 10 % (at least one iteration) where both converge."""
    if not result.get("converged") or not petsc.isdigit():
        return None
    return abs(result["iterations"] - int(petsc)) <= max(1, 0.1 * int(petsc))


def settle(rows, data):
    """Where a count differs from PETSc's, the plain implementation's."""
    for row in rows:
        for kind, fill in (("ilu0", 0), ("ilu1", 1)):
            if agreement(row[kind], row["petsc"][kind]) is False:
                reference = iteration_reference.iterations(read_matrix(data / f"{row['matrix']}.mtx.gz"), fill)
                row[kind]["reference_iterations"] = reference
                yield (f"{row['matrix']}, ILU({fill}): {row[kind]['iterations']} here, {row['petsc'][kind]} by PETSc, {reference} by "
                       "the plain implementation in `tools/iteration_reference.py`")


def markdown(rows, summary):
    lines = [
        "# Fifty real matrices",
        "",
        "Made by `tools/matrix_table.py`. b = A·1, rtol 1e-8, at most 1000 iterations, GMRES(50) with right preconditioning in natural",
        "order; PETSc 3.18's counts for the same are from the index of the matrices (DIV-3 out of iterations, DIV-5 breakdown, DIV-11 zero",
        "pivot). Every residual was recomputed with SciPy from the written solution. A `!` marks counts more than 10 % (and one iteration)",
        "apart. ILUT is `--pc ilut --match-rows` (20 entries a row and triangle, drop tolerance 1e-3), Jacobi the same with its triangles",
        "solved by 40 sweeps (`--trisolve jacobi`); an `e` marks those where the guard foresaw divergence and exact sweeps took over.",
        "`--pc auto` is what `echelon solve --matrix M` does by itself.",
        "",
    ]
    lines += [f"- {line}" for line in summary]
    lines += ["", "| matrix | n | nonzeros | ILU(0) | PETSc | ILU(1) | PETSc | ILUT | Jacobi | auto | chose |", "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|"]
    for row in rows:
        cells = [row["matrix"], str(row["n"]), str(row["nnz"])]
        for kind in ("ilu0", "ilu1"):
            mark = " !" if agreement(row[kind], row["petsc"][kind]) is False else ""
            cells += [cell(row[kind]) + mark, row["petsc"][kind]]
        took_over = " e" if row["jacobi"].get("trisolve") == "exact" else ""
        cells += [cell(row["ilut"]), cell(row["jacobi"]) + took_over, cell(row["auto"]), row["auto"].get("choice", "")]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def summarize(rows):
    lines = []
    for kind, name in (("ilu0", "ILU(0)"), ("ilu1", "ILU(1)"), ("ilut", "ILUT"), ("jacobi", "the same by Jacobi"), ("auto", "auto")):
        solved = sum(bool(row[kind].get("converged")) for row in rows)
        line = f"{name}: {solved} of {len(rows)} converged"
        if kind in PETSC_COLUMN:
            petsc = sum(row["petsc"][kind].isdigit() for row in rows)
            both = [agreement(row[kind], row["petsc"][kind]) for row in rows]
            both = [a for a in both if a is not None]
            line += f" (PETSc: {petsc}); where both do, {sum(both)} of {len(both)} counts agree within 10 %"
        lines.append(line)
    false_yes = sum(bool(row[kind].get("false_yes")) for row in rows for kind in RUNS)
    crashes = sum("crashed" in row[kind] for row in rows for kind in RUNS)
    taken_over = sum(row["jacobi"].get("trisolve") == "exact" for row in rows)
    lines.append(f"Jacobi's guard let exact sweeps take over in {taken_over} of {len(rows)}")
    lines.append(f"false 'converged': {false_yes}; crashes: {crashes}")
    return lines, false_yes + crashes


def cases_of(rows):
    for row in rows:
        for kind, options in RUNS.items():
            result = {k: v for k, v in row[kind].items() if k != "exit"}
            yield {"operation": "solve", "matrix": row["matrix"], "n": row["n"], "nnz": row["nnz"], "precision": "fp64",
                   "options": " ".join(options), "peer": "petsc-3.18" if kind in PETSC_COLUMN else None,
                   "peer_iterations": row["petsc"].get(kind), **result}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/bin/echelon")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared/data/matrices")
    parser.add_argument("--markdown", type=pathlib.Path, default=ROOT / "docs/results/matrices.md")
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / "bench/results/epyc2-matrices.json")
    parser.add_argument("--only", help="part of a file name")
    arguments = parser.parse_args()

    # Taken first: the tree may move on while the runs last.
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    rows = []
    with open(arguments.data / "INDEX.csv", newline="") as file, tempfile.TemporaryDirectory() as folder:
        for entry in csv.DictReader(file):
            if arguments.only and arguments.only not in entry["file"]:
                continue
            path = arguments.data / entry["file"]
            A = read_matrix(path)
            row = {"matrix": entry["file"].split(".")[0], "n": A.shape[0], "nnz": A.nnz,
                   "petsc": {kind: entry[column] for kind, column in PETSC_COLUMN.items()}}
            for kind, options in RUNS.items():
                row[kind] = run(arguments.program, path, options, A, pathlib.Path(folder))
            rows.append(row)
            print(row["matrix"], *(f"{kind} {cell(row[kind])}" for kind in RUNS), row["auto"].get("attempts", ""), flush=True)
    summary, bad = summarize(rows)
    summary += settle(rows, arguments.data)
    print("\n".join(summary))
    if arguments.only:
        return
    version = subprocess.run([str(arguments.program), "--version"], capture_output=True, text=True).stdout.split()[-1]
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    document = {"echelon_version": version, "command": "tools/matrix_table.py", "commit": commit, "cases": list(cases_of(rows))}
    arguments.json.write_text(json.dumps(document, indent=1) + "\n")
    arguments.markdown.write_text(markdown(rows, summary))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
