# SPDX-License-Identifier: BSD-3-Clause
"""Random hard systems by every solver and preconditioner: SciPy reads x back, and its residual is computed exactly."""
import fractions
import json
import math
import random

import numpy
import scipy.io
import scipy.sparse

from .runs import Case

RTOL = 1e-8
SOLVERS = ("auto", "cg", "gmres", "fgmres", "bicgstab")
PCS = ("auto", "none", "jacobi", "sgs", "ilu", "ic", "ilut", "parilu", "mcilu")


def entries(kind: str, n: int, dice: random.Random) -> dict[tuple[int, int], float]:
    A: dict[tuple[int, int], float] = {}
    for i in range(n):
        for _ in range(dice.randint(1, 5)):
            A[i, dice.randrange(n)] = dice.uniform(-1, 1)
    if kind != "random":
        for i in range(n):
            A[i, i] = A.get((i, i), 0) + {"dominant": 8, "weak": 1, "indefinite": 6 * (-1) ** i}.get(kind, 4)
    if kind in ("symmetric", "null space", "nearly a null space"):
        A = {**{(j, i): v for (i, j), v in A.items()}, **A}
        A = {(i, j): A[min(i, j), max(i, j)] for i, j in A}
    if kind.endswith("null space"):
        sums = [0.0] * n
        A = {(i, j): -1.0 for i, j in A if i != j}
        A.update({(i, i + 1): -1.0 for i in range(n - 1)})
        A.update({(j, i): v for (i, j), v in list(A.items())})
        for (i, _), v in A.items():
            sums[i] -= v
        for i in range(n):
            A[i, i] = sums[i] * (1 + (1e-9 if kind.startswith("nearly") else 0))
    if kind == "a dense row and column":
        for i in range(n):
            A[0, i] = A.get((0, i), 0) + 1
            A[i, 0] = A.get((i, 0), 0) + 1
    if kind == "badly scaled":
        scale = [10 ** dice.uniform(-40, 40) for _ in range(n)]
        A = {(i, j): v * scale[i] for (i, j), v in A.items()}
    return A


KINDS = ("dominant", "symmetric", "weak", "random", "indefinite", "null space", "nearly a null space", "a dense row and column", "badly scaled")
SIZES = {"ordinary": 1.0, "tiny": 1e-300, "subnormal": 1e-312, "barely there": 5e-324, "huge": 1e300, "zero": 0.0}


def norm(v: list[fractions.Fraction]) -> tuple[fractions.Fraction, float]:
    """The largest of v, and ‖v‖ in its units."""
    largest = max(map(abs, v))
    return largest, math.sqrt(sum(float(e / largest) ** 2 for e in v)) if largest else 0.0


def true_residual(A, b, x) -> float:
    """‖b − A x‖/‖b‖, b − A x without rounding: in badly scaled rows even long doubles keep only two digits of it."""
    exact = fractions.Fraction
    r = [exact(float(v)) for v in b]
    for i, j, v in zip(A.row, A.col, A.data):
        r[i] -= exact(float(v)) * exact(float(x[j]))
    if not numpy.any(b):
        return 0.0 if not numpy.any(x) else math.inf
    (of_r, r_in_units), (of_b, b_in_units) = norm(r), norm([exact(float(v)) for v in b])
    return float(of_r / of_b) * r_in_units / b_in_units if of_r else 0.0


def system(seed: int):
    dice = random.Random(seed)
    kind, size = KINDS[seed % len(KINDS)], list(SIZES)[dice.choice((0, 0, 0, 1, 2, 3, 4, 5))]
    n = dice.choice((1, 2, 3, 10, 40, 90))
    A = entries(kind, n, dice)
    b = [dice.uniform(-1, 1) * SIZES[size] for _ in range(n)]
    if kind == "null space" and dice.random() < 0.5:
        b = [v - sum(b) / n for v in b] if n > 1 else [0.0]
    words = ["--solver", dice.choice(SOLVERS), "--pc", dice.choice(PCS), "--rtol", str(RTOL), "--max-it", "300"]
    if kind.endswith("null space"):
        words += ["--null-space", "constant"]
    return f"{kind}, n = {n}, b {size}", A, b, n, words


def case(seed: int) -> Case:
    name, A, b, n, words = system(seed)
    text = f"%%MatrixMarket matrix coordinate real general\n{n} {n} {len(A)}\n" + "".join(f"{i + 1} {j + 1} {v!r}\n" for (i, j), v in A.items())
    right = f"%%MatrixMarket matrix array real general\n{n} 1\n" + "".join(f"{v!r}\n" for v in b)

    def check(ended) -> list[tuple[str, str]]:
        if ended.status not in (0, 1):
            return []
        report = json.loads((ended.folder / "r.json").read_text())
        matrix = scipy.sparse.coo_matrix(scipy.io.mmread(ended.folder / "A.mtx"))
        x = numpy.asarray(scipy.io.mmread(ended.folder / "x.mtx")).reshape(-1)
        if not numpy.all(numpy.isfinite(x)):
            return [("answer", "x is not finite")]
        residual = true_residual(matrix, numpy.array(b), x)
        faults = []
        # x is written with 17 digits; where b is a few units in the last place of a subnormal, so is the residual.
        if report["converged"] and residual > 1.001 * RTOL:
            faults.append(("false converged", f"{residual:.3e}, said {report['relative_residual']:.3e}"))
        if report["converged"] != (ended.status == 0):
            faults.append(("status", "not what the report says"))
        said = report["relative_residual"]
        if abs(said - residual) > 1e-3 * residual + 1e-13 and any(b):
            faults.append(("residual", f"said {said:.6e}, is {residual:.6e}"))
        return faults

    return Case(f"{seed}: {name}", ["solve", "--matrix", "A.mtx", "--rhs", "b.mtx", *words, "--solution", "x.mtx", "--json", "r.json"], {0, 1, 2},
                inputs={"A.mtx": text.encode(), "b.mtx": right.encode()}, outputs={"x.mtx", "r.json"}, check=check)


def cases(count: int) -> list[Case]:
    return [case(seed) for seed in range(count)]
