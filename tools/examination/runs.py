# SPDX-License-Identifier: BSD-3-Clause
"""One run of the program in a folder of its own, and what is a fault whatever the case is about."""
import dataclasses
import json
import os
import pathlib
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from typing import Callable

SMALL = "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 4\n1 2 1\n2 1 2\n2 2 5\n"
RHS = "%%MatrixMarket matrix array real general\n2 1\n5\n7\n"
FOREIGN = ("terminate called", "libgomp:", "Segmentation", "Assertion", "a bug of ours", "std::", "core dumped")


@dataclasses.dataclass
class Case:
    name: str
    line: list[str]  # behind the program's name
    allowed: set[int]
    inputs: dict[str, bytes] = dataclasses.field(default_factory=dict)
    prepare: Callable[[pathlib.Path], None] | None = None
    environment: dict[str, str | None] = dataclasses.field(default_factory=dict)
    outputs: set[str] = dataclasses.field(default_factory=set)  # files that may appear or change
    shell: str = ""  # in front of the program: "ulimit -v 1000000;", or a program that starts it: "exec setpriv …"
    behind: str = ""  # behind it: "| head -1"; the status is the program's
    conduct: Callable[["Running"], None] | None = None  # sends signals
    check: Callable[["Ended"], list[tuple[str, str]]] | None = None
    seconds: float = 60
    megabytes: float | None = None
    says: str = ""  # on standard error
    speechless: bool = False  # what it says cannot arrive


@dataclasses.dataclass
class Running:
    folder: pathlib.Path
    process: subprocess.Popen
    sent: float = 0  # when the last signal was sent

    def alive(self) -> bool:
        """Without taking its status away from who waits for it."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def wait_for(self, name: str, size: int = 1, seconds: float = 30) -> bool:
        """Until the file has so many bytes."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.alive():
            if (self.folder / name).exists() and (self.folder / name).stat().st_size >= size:
                return True
            time.sleep(0.01)
        return False

    def send(self, number: int) -> None:
        if self.alive():
            self.sent = time.monotonic()
            os.kill(self.process.pid, number)


@dataclasses.dataclass
class Ended:
    folder: pathlib.Path
    status: int
    out: str
    err: str
    seconds_after_signal: float


@dataclasses.dataclass
class Result:
    name: str
    command: str
    status: int
    faults: list[tuple[str, str]]


def snapshot(folder: pathlib.Path) -> dict[str, tuple]:
    seen = {}
    for path in sorted(folder.rglob("*")):
        if path.name.startswith(".stream-"):
            continue
        state = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() and state.st_size < 10_000_000 else b""
        seen[str(path.relative_to(folder))] = (state.st_mode, state.st_size, state.st_ino, content)
    return seen


def tame(text: str) -> str:
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text.strip())[:300]


def command_of(case: Case, program: pathlib.Path) -> list[str]:
    words = [str(program), *case.line]
    if not case.shell and not case.behind:
        return words
    quoted = " ".join(shlex.quote(word) for word in words)
    if case.behind:
        return ["bash", "-c", f"{case.shell} {quoted} {case.behind}; exit ${{PIPESTATUS[0]}}"]
    return ["bash", "-c", f"{case.shell} {'exec ' if case.shell.endswith(';') else ''}{quoted}"]


def surroundings(case: Case) -> dict[str, str]:
    variables = dict(os.environ)
    for name in list(variables):
        if name.startswith(("OMP_", "GOMP_")):
            del variables[name]
    for name, value in case.environment.items():
        if value is None:
            variables.pop(name, None)
        else:
            variables[name] = value
    return variables


def run(program: pathlib.Path, case: Case, folder: pathlib.Path) -> tuple[Ended, bool, float]:
    """What happened, whether it had to be killed, and the peak of its memory in megabytes."""
    with open(folder / ".stream-out", "wb") as out, open(folder / ".stream-err", "wb") as err:
        process = subprocess.Popen(command_of(case, program), cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   env=surroundings(case), start_new_session=True)
        running = Running(folder, process)
        overdue = threading.Event()

        def kill() -> None:
            overdue.set()
            os.killpg(process.pid, signal.SIGKILL)  # it is not waited for yet, so the number is still its own

        timer = threading.Timer(case.seconds, kill)
        timer.start()
        if case.conduct:
            case.conduct(running)
        _, raw, usage = os.wait4(process.pid, 0)
        ended = time.monotonic()
        process.returncode = os.waitstatus_to_exitcode(raw)
        timer.cancel()
    try:
        os.killpg(process.pid, signal.SIGKILL)  # what it may have left running
    except ProcessLookupError:
        pass
    status = process.returncode
    if status > 128 and status != 130 and (case.shell or case.behind):
        status = 128 - status  # how a shell tells a signal
    texts = [(folder / name).read_bytes().decode("utf-8", "surrogateescape") for name in (".stream-out", ".stream-err")]
    return Ended(folder, status, *texts, ended - running.sent if running.sent else 0), overdue.is_set(), usage.ru_maxrss / 1024


def judge(program: pathlib.Path, case: Case) -> Result:
    faults: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory(prefix="examine-") as name:
        folder = pathlib.Path(name)
        for path, content in case.inputs.items():
            (folder / path).write_bytes(content)
        if case.prepare:
            case.prepare(folder)
        before = snapshot(folder)
        ended, overdue, megabytes = run(program, case, folder)
        after = snapshot(folder)
        if overdue:
            faults.append(("hang", f"killed after {case.seconds:g} s"))
        elif ended.status < 0:
            faults.append(("crash", f"signal {-ended.status}"))
        elif ended.status not in case.allowed:
            faults.append(("status", f"{ended.status}, allowed {sorted(case.allowed)}; {tame(ended.err or ended.out)}"))
        if ended.status in (2, 3) and "echelon: " not in ended.err and not case.speechless:
            faults.append(("silent", tame(ended.err)))
        if case.says and case.says not in ended.err:
            faults.append(("words", f"{case.says!r} is not in: {tame(ended.err)}"))
        # The run time says itself which of its variables it does not understand.
        ours = "\n".join(line for line in ended.err.split("\n") if "environment variable" not in line and "less than minimum" not in line)
        for words in FOREIGN:
            if words in ours:
                faults.append(("foreign words", tame(ended.err)))
                break
        # Its own streams are files here, so not even a progress line's controls belong in them.
        if any(ord(c) < 32 and c != "\n" for c in ended.out + ended.err):
            faults.append(("control characters", tame(ended.out + ended.err)))
        for path in sorted(set(before) | set(after)):
            if path in case.outputs or before.get(path) == after.get(path):
                continue
            kind = "litter" if path not in before else "touched"
            if not (kind == "touched" and os.path.isdir(folder / path)):
                faults.append((kind, tame(path)))
        for path in case.outputs & set(after):
            if path.endswith(".json") and (folder / path).is_file():
                try:
                    json.loads((folder / path).read_bytes())
                except ValueError as error:
                    faults.append(("report", f"{path}: {error}"))
        if case.megabytes and megabytes > case.megabytes:
            faults.append(("memory", f"{megabytes:.0f} MB, at most {case.megabytes:.0f}"))
        if case.check and not overdue:
            faults += case.check(ended)
    return Result(case.name, " ".join(shlex.quote(tame(w)) for w in [*(f"{k}={v}" for k, v in case.environment.items()),
                                                                    case.shell, "echelon", *case.line, case.behind] if w),
                  ended.status, faults)
