# SPDX-License-Identifier: BSD-3-Clause
"""Variables, limits and closed streams: the same answer bit for bit, or a sentence."""
import json
import os

from .runs import Case, SMALL

# Large enough that threads are used, small enough to take a moment.
program_kilobytes = 0  # what the system needs to load it, kernels for GPUs among it
LINE = ["solve", "--grid", "32", "--solver", "cg", "--pc", "ic", "--json", "r.json"]


def same_answer(ended) -> list[tuple[str, str]]:
    if ended.status != 0:
        return []
    report = json.loads((ended.folder / "r.json").read_text())
    seen = (report["iterations"], report["solution_hash"])
    first = same_answer.first = getattr(same_answer, "first", seen)
    return [] if seen == first else [("another answer", f"{seen}, first {first}")]


def case(name: str, allowed: set[int], **more) -> Case:
    more.setdefault("line", LINE)
    return Case(name, allowed=allowed, outputs={"r.json"}, check=None if more["line"] is not LINE else same_answer, **more)


def variables() -> list[Case]:
    values = {
        "OMP_NUM_THREADS": ["0", "1", "2", "3", "7", "-1", "abc", "", "1000", "2,2", "99999999999999"],
        "OMP_THREAD_LIMIT": ["1", "2", "0", "x"], "OMP_DYNAMIC": ["true", "false"], "OMP_WAIT_POLICY": ["active", "passive", "x"],
        "GOMP_SPINCOUNT": ["0", "1000", "infinite", "x"], "OMP_PROC_BIND": ["true", "close", "spread", "false"], "OMP_PLACES": ["cores", "{0}", "x"],
        "OMP_STACKSIZE": ["1k", "64M", "100G", "x"], "OMP_SCHEDULE": ["dynamic", "static,1"], "OMP_NESTED": ["true"],
        "OMP_MAX_ACTIVE_LEVELS": ["0", "3"], "OMP_CANCELLATION": ["true"], "OMP_DISPLAY_ENV": ["false"], "OMP_AFFINITY_FORMAT": ["%"],
        "LC_ALL": ["C", "de_DE.UTF-8", "tr_TR.UTF-8", "nosuch", "POSIX"], "LC_NUMERIC": ["de_DE.UTF-8"], "LANG": ["de_DE.UTF-8", ""],
        "LANGUAGE": ["de"], "TZ": ["", "nosuch", "UTC-14"], "TERM": ["", "dumb", "xterm-256color", "nosuch"], "COLUMNS": ["0", "-1", "x", "100000"],
        "LINES": ["0"], "NO_COLOR": ["1"], "CLICOLOR_FORCE": ["1"], "HOME": [None, "", "/nosuch"], "PATH": ["", None, "/nosuch"], "USER": [None],
        "TMPDIR": ["", "/nosuch"], "PWD": ["/nosuch"], "SHELL": [None], "LD_BIND_NOW": ["1"], "MALLOC_ARENA_MAX": ["1"],
        "MALLOC_PERTURB_": ["85"], "MALLOC_CHECK_": ["3"], "CUDA_VISIBLE_DEVICES": ["", "-1", "99", "x"], "CUDA_MODULE_LOADING": ["LAZY"],
        "OMPI_COMM_WORLD_RANK": ["0"], "SLURM_PROCID": ["0"], "ECHELON_DATA": ["/nosuch", ""], "ECHELON_THREADS": ["x"],
        "POSIXLY_CORRECT": ["1"], "BASH_ENV": ["/nosuch"], "KMP_AFFINITY": ["compact"], "MKL_NUM_THREADS": ["x"],
    }
    return [case(f"{name}={value!r}", {0}, environment={name: value}) for name, all_values in values.items() for value in all_values]


def limits() -> list[Case]:
    cases = [case(f"ulimit -v {kilobytes}", {0, 3}, shell=f"ulimit -v {program_kilobytes + kilobytes};") for kilobytes in
             (20_000, 30_000, 40_000, 60_000, 80_000, 100_000, 150_000, 300_000, 1_000_000)]
    cases += [case(f"ulimit -v {kilobytes}, 64 threads", {0, 3}, line=[*LINE, "--threads", "64"], shell=f"ulimit -v {program_kilobytes + kilobytes};")
              for kilobytes in (60_000, 100_000, 300_000, 600_000)]
    cases += [case(f"ulimit -s {kilobytes}", {0, 3}, shell=f"ulimit -s {kilobytes};") for kilobytes in (128, 512, "unlimited")]
    cases += [case(f"ulimit -n {files}", {0, 2, 3}, shell=f"ulimit -n {files};") for files in (4, 5, 6, 8)]
    cases += [case(f"ulimit -f {blocks}", {0, 2}, shell=f"ulimit -f {blocks};", line=[*LINE, "--solution", "x.mtx"], speechless=blocks == 0) for blocks in (0, 1, 8)]
    # Root is not counted: as another user where we are root.
    other = "chmod 777 .; exec setpriv --reuid=65534 --regid=65534 --clear-groups" if os.getuid() == 0 else "exec"
    cases += [case(f"a user with {count} processes, {threads} threads", {0, 3}, shell=f"ulimit -u {count}; {other}", line=[*LINE, "--threads", threads])
              for count in (1, 2, 50) for threads in ("2", "16")]
    cases += [case(f"{threads} threads", {0}, line=[*LINE, "--threads", threads]) for threads in ("1", "2", "3", "5", "16", "64")]
    for made in cases:
        if made.line[: len(LINE)] == LINE and "--solution" not in made.line:
            made.check = same_answer
    return cases


def streams() -> list[Case]:
    return [case("standard input closed", {0}, shell="exec <&-;"), case("standard output closed", {0, 2}, shell="exec >&-;"),
            case("standard error closed", {0}, shell="exec 2>&-;"),
            case("all three closed", {0, 2}, shell="exec <&- >&- 2>&-;", speechless=True),
            case("standard output full", {2}, shell="exec >/dev/full;"), case("standard error full", {0}, shell="exec 2>/dev/full;"),
            case("a reader that leaves", {0}, behind="| true", line=LINE), case("a reader that leaves a report", {0}, behind="| head -c 1 >/dev/null", line=["solve", "--grid", "32", "--json", "-"]),
            case("a reader that leaves a solution", {0}, behind="| head -c 1 >/dev/null", line=["solve", "--grid", "48", "--solution", "/dev/stdout"]),
            case("a reader that leaves a solution to -", {0}, behind="| head -c 1 >/dev/null", line=["solve", "--grid", "48", "--solution", "-"]),
            case("a full standard output for the report", {2}, shell="exec >/dev/full;", line=["solve", "--grid", "4", "--json", "-"]),
            case("a folder that was removed", {0, 2}, shell="mkdir gone; cd gone; rmdir ../gone;", line=["solve", "--grid", "4", "--json", "r.json"]),
            case("an unwritable place", {2}, line=["solve", "--grid", "4", "--solution", "/proc/nosuch"]),
            case("a folder as output", {2}, line=["solve", "--grid", "4", "--json", "/"]),
            case("umask 777", {0}, shell="umask 777;"), case("SIGINT ignored", {0}, shell="trap '' INT;"), case("SIGCHLD ignored", {0}, shell="trap '' CHLD;"),
            case("SIGPIPE ignored", {0}, shell="trap '' PIPE;"), case("nice", {0}, shell="renice 19 $$ >/dev/null;"),
            case("one processor", {0}, shell="taskset -p 1 $$ >/dev/null;"),
            case("an empty environment", {0}, shell="unset $(compgen -e | grep -v '^_$');"),
            case("a matrix from a pipe", {0}, shell="exec < A.mtx;", line=["solve", "--matrix", "/dev/stdin"], inputs={"A.mtx": SMALL.encode()})]


def cases(_: int) -> list[Case]:
    return [case("as it is", {0})] + variables() + limits() + streams()
