# SPDX-License-Identifier: BSD-3-Clause
"""Signals and time limits at every stage of a run: it ends within a second or two, with what there is to save."""
import json
import os
import pathlib
import signal
import threading
import time

from .runs import Case, Running

patience = 4.0  # seconds on a busy machine; the promise is one
SAVING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU)
OUTPUTS = ["--solution", "x.mtx", "--json", "r.json"]


def arrow(folder: pathlib.Path) -> None:
    """One full row and column: everything fills in, set-ups take minutes."""
    n = 6000
    lines = [f"{i} {i} {4 + i % 3}" for i in range(1, n + 1)] + [f"1 {i} {1 / i:.6f}" for i in range(2, n + 1)] + [f"{i} 1 {1 / (i + 1):.6f}" for i in range(2, n + 1)]
    (folder / "A.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n{n} {n} {len(lines)}\n" + "\n".join(lines) + "\n")


def ended_soon(ended) -> list[tuple[str, str]]:
    return [("slow", f"{ended.seconds_after_signal:.1f} s after the signal")] if ended.seconds_after_signal > patience else []


def saved(reason: str):
    def check(ended) -> list[tuple[str, str]]:
        faults = ended_soon(ended)
        report = ended.folder / "r.json"
        if not report.exists():
            return faults + [("nothing saved", "no report")]
        said = json.loads(report.read_text()).get("reason")
        if said != reason:
            faults.append(("reason", f"{said}, not {reason}"))
        if not (ended.folder / "x.mtx").exists() or any(word in (ended.folder / "x.mtx").read_text()[:2000] for word in ("nan", "inf")):
            faults.append(("nothing saved", "no finite iterate"))
        return faults
    return check


def once(number: int, after: float, file: str = ""):
    def conduct(running: Running) -> None:
        if file and not running.wait_for(file, 500):
            return
        time.sleep(after)
        running.send(number)
    return conduct


def twice(number: int, file: str):
    def conduct(running: Running) -> None:
        running.wait_for(file, 500)
        running.send(number)
        running.send(number)
    return conduct


# -v prints every iteration, so that a test knows when it iterates.
ITERATES = ["solve", "--grid", "64", "-v", "--solver", "gmres", "--pc", "none", "--rtol", "1e-15", "--max-it", "100000000", "--restart", "5"]


def iterating() -> list[Case]:
    cases = []
    for number in SAVING:
        name = signal.Signals(number).name
        cases += [Case(f"{name} while iterating, {after} s later", ITERATES + OUTPUTS, {130}, outputs={"x.mtx", "r.json"},
                       conduct=once(number, after, ".stream-out"), check=saved("interrupted")) for after in (0.0, 0.2, 0.7)]
        cases.append(Case(f"{name} twice", ITERATES + OUTPUTS, {130}, outputs={"x.mtx", "r.json"}, conduct=twice(number, ".stream-out"), check=ended_soon))
    return cases


def setting_up() -> list[Case]:
    """n = 6,000 with one full row and column: fill for minutes, in every kind of factorization."""
    methods = {"auto": ["--rtol", "1e-300"], "ilu(1)": ["--pc", "ilu", "--fill", "1"], "ilu(2) in rcm order": ["--pc", "ilu", "--fill", "2", "--ordering", "rcm"],
               "ilut": ["--pc", "ilut", "--lfil", "6000", "--drop", "0"], "ilut, rows matched": ["--pc", "ilut", "--lfil", "6000", "--drop", "0", "--match-rows"],
               "ic(1)": ["--pc", "ic", "--fill", "1", "--solver", "gmres"], "mcilu": ["--pc", "mcilu", "--fill", "1"], "parilut": ["--pc", "parilut", "--fill-limit", "1000"]}
    cases = []
    for name, words in methods.items():
        line = ["solve", "--matrix", "A.mtx", *words, *OUTPUTS]
        # One that needs less than two seconds ends by itself: 0, 1 or, where the method does not suit, 2.
        cases.append(Case(f"time limit of 2 s in {name}", [*line, "--time-limit", "2"], {0, 1, 2}, prepare=arrow, outputs={"x.mtx", "r.json"}, seconds=4 + patience, check=ended_soon))
        for number in SAVING[:2]:
            cases.append(Case(f"{signal.Signals(number).name} in {name}", line, {0, 1, 2, 130}, prepare=arrow, outputs={"x.mtx", "r.json"}, seconds=6 + patience,
                              conduct=once(number, 2), check=ended_soon))
    return cases


def reading() -> list[Case]:
    def fifo(folder: pathlib.Path) -> None:
        os.mkfifo(folder / "A.mtx")

    def half_open(number: int):
        def conduct(running: Running) -> None:
            def feed() -> None:
                try:
                    with open(running.folder / "A.mtx", "w") as pipe:
                        pipe.write("%%MatrixMarket matrix coordinate real general\n9 9 9\n")
                        pipe.flush()
                        time.sleep(3)
                except OSError:
                    pass
            threading.Thread(target=feed, daemon=True).start()
            time.sleep(0.7)
            running.send(number)
        return conduct
    cases = []
    for number in SAVING:
        name = signal.Signals(number).name
        line = ["solve", "--matrix", "A.mtx", "--json", "r.json"]
        cases.append(Case(f"{name} before a pipe is opened", line, {130}, prepare=fifo, outputs={"r.json"}, conduct=once(number, 0.5), check=ended_soon))
        cases.append(Case(f"{name} while a pipe is read", line, {130}, prepare=fifo, outputs={"r.json"}, conduct=half_open(number), check=ended_soon))
        cases.append(Case(f"{name} while a pipe without a reader is opened", ["solve", "--grid", "8", "--solution", "A.mtx"], {130}, prepare=fifo,
                          conduct=once(number, 1), check=ended_soon))
    cases.append(Case("time limit before a pipe is opened", ["solve", "--matrix", "A.mtx", "--json", "r.json", "--time-limit", "1"], {1}, prepare=fifo,
                      outputs={"r.json"}, seconds=2 + patience, check=lambda ended: [] if json.loads((ended.folder / "r.json").read_text()).get("reason") == "time_limit" else [("reason", "not time_limit")]))
    return cases


def others() -> list[Case]:
    cases = [Case(f"{limit} s of time", [*ITERATES, *OUTPUTS, "--time-limit", limit], {1}, outputs={"x.mtx", "r.json"}, seconds=11 + patience, check=saved("time_limit")) for limit in ("0.5", "1", "2.5")]
    cases += [Case(f"{limit} s of time in a small solve", ["solve", "--grid", "16", *OUTPUTS, "--time-limit", limit], {0, 1}, outputs={"x.mtx", "r.json"}) for limit in ("1e-9", "0.001", "1e300")]
    cases += [Case(f"{number.name} is nothing", ["solve", "--grid", "96"], {0}, conduct=once(number, 0.2)) for number in (signal.SIGPIPE, signal.SIGCONT, signal.SIGWINCH)]
    cases += [Case(f"{signal.Signals(number).name} in check", ["check", "A.mtx"], {130}, prepare=lambda folder: os.mkfifo(folder / "A.mtx"),
                   conduct=once(number, 0.5), check=ended_soon) for number in SAVING]
    cases += [Case(f"{signal.Signals(number).name} in selftest", ["selftest"], {0, 130}, conduct=once(number, 0.3), check=ended_soon) for number in SAVING]
    cases += [Case(f"{signal.Signals(number).name} in bench", ["bench", "trsv", "--json", "r.json"], {130}, outputs={"r.json"}, conduct=once(number, 1), check=ended_soon) for number in SAVING[:2]]
    return cases


def cases(_: int) -> list[Case]:
    return iterating() + setting_up() + reading() + others()
