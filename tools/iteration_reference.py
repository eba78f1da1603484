#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Iterations of GMRES(50) with ILU(k), by a plain implementation that shares nothing with the library.

ILU(k) by the level-of-fill rule row by row, right-preconditioned GMRES with twice orthogonalised Arnoldi and least squares.
Slow and simple: it settles whose count is right when two libraries differ.
"""
import argparse
import heapq
import pathlib

import numpy
import scipy.io
import scipy.sparse
from scipy.sparse.linalg import spsolve_triangular


def ilu(A, fill):
    levels, values = [], []
    for i in range(A.shape[0]):
        columns = A.indices[A.indptr[i]:A.indptr[i + 1]]
        level = {int(j): 0 for j in columns}
        value = {int(j): float(x) for j, x in zip(columns, A.data[A.indptr[i]:A.indptr[i + 1]])}
        waiting = [j for j in level if j < i]
        heapq.heapify(waiting)
        while waiting:
            p = heapq.heappop(waiting)
            for j, upper in levels[p].items():
                candidate = level[p] + upper + 1
                if j <= p or candidate > fill:
                    continue
                if j not in level:
                    value[j] = 0.0
                    if j < i:
                        heapq.heappush(waiting, j)
                level[j] = min(level.get(j, candidate), candidate)
        for p in sorted(j for j in level if j < i):
            value[p] /= values[p][p]
            for j, u in values[p].items():
                if j > p and j in value:
                    value[j] -= value[p] * u
        levels.append(level)
        values.append(value)
    rows = [i for i, row in enumerate(values) for _ in row]
    columns = [j for row in values for j in row]
    data = [x for row in values for x in row.values()]
    return scipy.sparse.csr_matrix((data, (rows, columns)), shape=A.shape)


def gmres_iterations(A, b, apply, restart=50, rtol=1e-8, most=1000):
    x, done, target = numpy.zeros_like(b), 0, rtol * numpy.linalg.norm(b)
    while done < most:
        r = b - A @ x
        beta = numpy.linalg.norm(r)
        if beta <= target:
            break
        V, H = [r / beta], numpy.zeros((restart + 1, restart))
        for j in range(restart):
            w = A @ apply(V[j])
            for _ in range(2):
                for i in range(j + 1):
                    h = V[i] @ w
                    w = w - h * V[i]
                    H[i, j] += h
            H[j + 1, j] = numpy.linalg.norm(w)
            V.append(w / H[j + 1, j])
            done += 1
            e = numpy.zeros(j + 2)
            e[0] = beta
            y = numpy.linalg.lstsq(H[:j + 2, :j + 1], e, rcond=None)[0]
            if numpy.linalg.norm(e - H[:j + 2, :j + 1] @ y) <= target or done >= most:
                break
        x = x + apply(numpy.array(V[:j + 1]).T @ y)
    return done


def iterations(A, fill):
    A = scipy.sparse.csr_matrix(A, dtype=float)
    A.sort_indices()
    F = ilu(A, fill)
    L = scipy.sparse.csr_matrix(scipy.sparse.tril(F, -1) + scipy.sparse.eye(A.shape[0]))
    U = scipy.sparse.csr_matrix(scipy.sparse.triu(F))
    return gmres_iterations(A, A @ numpy.ones(A.shape[0]),
                            lambda r: spsolve_triangular(U, spsolve_triangular(L, r, lower=True), lower=False))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("matrix", type=pathlib.Path)
    parser.add_argument("--fill", type=int, default=0)
    arguments = parser.parse_args()
    print(iterations(scipy.io.mmread(arguments.matrix), arguments.fill))


if __name__ == "__main__":
    main()
