# SPDX-License-Identifier: BSD-3-Clause
"""Inputs that must be refused with a sentence, in little memory, and unusual ones that must be read."""
import gzip
import os
import pathlib
import random

from .runs import Case, RHS, SMALL

BAD = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "bad"
BANNER = "%%MatrixMarket matrix coordinate real general\n"
MEGABYTES = 600  # what the program may take for a file of a few bytes


def replaced(line: int, word: int, by: str) -> bytes:
    """SMALL with one word of one line exchanged."""
    lines = SMALL.split("\n")
    words = lines[line].split(" ")
    words[word] = by
    lines[line] = " ".join(words)
    return "\n".join(lines).encode()


def refused(name: str, content: bytes, command: str = "solve", suffix: str = ".mtx", **more) -> Case:
    file = "A" + suffix
    line = ["solve", "--matrix", file, "--json", "r.json", "--solution", "x.mtx"] if command == "solve" \
        else ["check", file, "--json", "r.json"]
    more.setdefault("allowed", {2, 3})
    more.setdefault("megabytes", MEGABYTES)
    return Case(f"{command}: {name}", line, inputs={file: content}, outputs={"r.json"}, **more)


def special(name: str, prepare, allowed=frozenset({2}), line=("solve", "--matrix", "A.mtx"), **more) -> Case:
    return Case(name, list(line), set(allowed), prepare=prepare, megabytes=MEGABYTES, **more)


def link(target: str):
    return lambda folder: os.symlink(target, folder / "A.mtx")


def mutated_words() -> list[Case]:
    all_cases = []
    numbers = {"zero": "0", "negative": "-1", "above": "3", "float": "1.5", "word": "x", "2^31": "2147483648",
               "2^63": "9223372036854775808", "hexadecimal": "0x1", "nothing": "", "a NUL": "1\0", "a minus": "-",
               "twice": "1 1", "full width": "\uff11", "an exponent": "1e0"}
    for name, text in numbers.items():
        all_cases.append(refused(f"row index is {name}", replaced(2, 0, text)))
        if name not in ("above", "2^31", "full width", "twice"):
            all_cases.append(refused(f"column index is {name}", replaced(4, 1, text)))
    values = {"nan": "nan", "inf": "-inf", "too large": "1e309", "a word": "four", "half a number": "4x", "missing": "",
              "a comma": "4,0", "two points": "4.0.0", "an empty exponent": "4e", "two signs": "--4", "a unit": "4m",
              "hexadecimal": "0x1p2", "complex": "4 1", "a Fortran d with nothing": "4d", "only a sign": "+"}
    for name, text in values.items():
        all_cases.append(refused(f"value is {name}", replaced(2, 2, text)))
        all_cases.append(refused(f"value is {name}", replaced(5, 2, text), "check", allowed={1, 2}))
    sizes = {"zero rows": (0, "0"), "negative rows": (0, "-2"), "rows of 2^31": (0, "2147483648"), "rows of 2^63": (0, "9223372036854775808"),
             "rows that are a word": (0, "two"), "half a row": (0, "2.5"), "one column": (1, "1"),
             "columns of 2^40": (1, "1099511627776"), "more entries": (2, "5"), "fewer entries": (2, "3"), "negative entries": (2, "-4"),
             "2^62 entries": (2, "4611686018427387904"), "10^9 entries": (2, "1000000000"), "a fourth size": (2, "4 4"), "no count": (2, "")}
    for name, (word, text) in sizes.items():
        all_cases.append(refused(f"header has {name}", replaced(1, word, text)))
    return all_cases


def banners() -> list[Case]:
    lines = {"a word missing": "%%MatrixMarket matrix coordinate real", "two words missing": "%%MatrixMarket matrix coordinate",
             "one percent sign": "%MatrixMarket matrix coordinate real general", "a comment before it": "% hello\n" + BANNER.strip(),
             "another object": "%%MatrixMarket graph coordinate real general", "another format": "%%MatrixMarket matrix csr real general",
             "another field": "%%MatrixMarket matrix coordinate quaternion general",
             "another symmetry": "%%MatrixMarket matrix coordinate real diagonal",
             "complex values": "%%MatrixMarket matrix coordinate complex general",
             "a surplus word": "%%MatrixMarket matrix coordinate real general please", "an empty line before it": "\n" + BANNER.strip(),
             "UTF-16": BANNER.strip().encode("utf-16").decode("latin-1")}
    rest = SMALL.split("\n", 1)[1]
    return [refused(f"banner with {name}", (line + "\n" + rest).encode("latin-1")) for name, line in lines.items()]


def compressed() -> list[Case]:
    whole = gzip.compress(SMALL.encode() * 1, mtime=0)
    all_cases = [refused(f"gzip cut after {cut} bytes", whole[:cut], suffix=".mtx.gz") for cut in (1, 2, 5, 10, 11, 20, len(whole) - 8, len(whole) - 1)]
    dice = random.Random(5)
    for at in sorted(dice.sample(range(12, len(whole)), 12)):
        flipped = bytearray(whole)
        flipped[at] ^= 0x10
        all_cases.append(refused(f"gzip with byte {at} flipped", bytes(flipped), suffix=".mtx.gz"))
    all_cases.append(refused("gzip with garbage behind it", whole + b"garbage", suffix=".mtx.gz"))
    all_cases.append(refused("gzip of zeros, 300 MB", gzip.compress(bytes(300_000_000), 9), suffix=".mtx.gz"))
    all_cases.append(refused("gzip of one endless comment", gzip.compress((BANNER + "% " + "x" * 200_000_000).encode(), 9), suffix=".mtx.gz"))
    all_cases.append(refused("gzip in gzip", gzip.compress(whole), suffix=".mtx.gz"))
    for case in all_cases[-4:]:
        case.seconds = 120
    return all_cases


def claims() -> list[Case]:
    """Headers that ask for more than the file can mean."""
    texts = {"3e8 rows and one entry": BANNER + "300000000 300000000 1\n1 1 1\n",
             "2e9 rows and two entries": BANNER + "2000000000 2000000000 2\n1 1 1\n2 2 1\n",
             "3e8 symmetric rows and one entry": BANNER.replace("general", "symmetric") + "300000000 300000000 1\n1 1 1\n",
             "1e8 rows, no entries": BANNER + "100000000 100000000 0\n",
             "an array of 1e9 x 1e9": "%%MatrixMarket matrix array real general\n1000000000 1000000000\n1\n",
             "3e8 columns": BANNER + "2 300000000 2\n1 1 1\n2 2 1\n"}
    all_cases = []
    for name, text in texts.items():
        all_cases.append(refused(name, text.encode()))
        all_cases.append(refused(name, text.encode(), "check", allowed={1, 2, 3}))
    return all_cases


def right_sides() -> list[Case]:
    texts = {"too short": "%%MatrixMarket matrix array real general\n1 1\n5\n", "too long": "%%MatrixMarket matrix array real general\n3 1\n5\n7\n9\n",
             "two columns": "%%MatrixMarket matrix array real general\n2 2\n5\n7\n9\n1\n", "with NaN": RHS.replace("7", "nan"),
             "with Inf": RHS.replace("7", "inf"), "a matrix": SMALL, "empty": "", "cut": RHS[:-4], "surplus": RHS + "8\n",
             "1e308 twice": RHS.replace("5", "1.7e308").replace("7", "1.7e308")}
    return [Case(f"right side {name}", ["solve", "--matrix", "A.mtx", "--rhs", "b.mtx", "--json", "r.json"],
                 {0, 1, 2} if name == "1e308 twice" else {2}, inputs={"A.mtx": SMALL.encode(), "b.mtx": text.encode()}, outputs={"r.json"})
            for name, text in texts.items()]


def structures() -> list[Case]:
    full = "".join(f"{i} {j} {1e308}\n" for i in (1, 2) for j in (1, 2))
    return [refused("an empty row", (BANNER + "3 3 3\n1 1 4\n2 2 5\n2 3 1\n").encode()),
            refused("an empty column", (BANNER + "3 3 3\n1 1 4\n2 2 5\n3 2 1\n").encode()),
            refused("rectangular", (BANNER + "2 3 1\n1 1 4\n").encode()),
            refused("symmetric with an upper entry", (BANNER.replace("general", "symmetric") + "2 2 3\n1 1 4\n1 2 1\n2 2 4\n").encode()),
            refused("skew with a diagonal", (BANNER.replace("general", "skew-symmetric") + "2 2 2\n1 1 4\n2 1 1\n").encode()),
            refused("duplicates that sum to Inf", (BANNER + "2 2 8\n" + full + full).encode(), allowed={1, 2}),
            refused("duplicates that sum to Inf", (BANNER + "2 2 8\n" + full + full).encode(), "check", allowed={1, 2})]


def special_files() -> list[Case]:
    def write(folder: pathlib.Path, content: bytes) -> None:
        (folder / "A.mtx").write_bytes(content)
    return [special("missing", lambda folder: None), special("a folder", lambda folder: (folder / "A.mtx").mkdir()),
            special("a link to nowhere", link("nowhere")), special("a link to itself", link("A.mtx")),
            special("/dev/null", link("/dev/null")), special("/dev/zero", link("/dev/zero")), special("/dev/full", link("/dev/full")),
            special("/dev/urandom", link("/dev/urandom")), special("/proc/self/mem", link("/proc/self/mem")),
            special("a name of 300 letters", lambda folder: None, line=["solve", "--matrix", "A" * 300]),
            special("empty", lambda folder: write(folder, b"")), special("a newline", lambda folder: write(folder, b"\n")),
            special("a PNG", lambda folder: write(folder, b"\x89PNG\r\n\x1a\n" + bytes(1000))),
            special("an ELF program", link("/bin/true")), special("one long line", lambda folder: write(folder, b"7" * 5_000_000)),
            special("check /dev/zero", link("/dev/zero"), line=["check", "A.mtx"]),
            special("rhs /dev/zero", link("/dev/zero"), line=["solve", "--grid", "4", "--rhs", "A.mtx"]),
            special("a file in a file", lambda folder: write(folder, b""), line=["solve", "--matrix", "A.mtx/A.mtx"])]


def legal() -> list[Case]:
    """Unusual, and right: the answer must be 1."""
    texts = {"Windows line ends": SMALL.replace("\n", "\r\n"), "no newline at the end": SMALL.rstrip("\n"),
             "comments and empty lines": SMALL.replace("\n2 2 4", "\n% c\n\n%\n2 2 4"), "tabs": SMALL.replace(" ", "\t").replace("\t", " ", 4),
             "Fortran exponents": SMALL.replace("1 1 4", "1 1 0.4d1"), "capital banner": SMALL.replace("%%MatrixMarket matrix coordinate real general", "%%MATRIXMARKET MATRIX COORDINATE REAL GENERAL"),
             "plus signs": SMALL.replace("1 1 4", "1 1 +4"), "spaces around": SMALL.replace("1 1 4", "   1  1   4   ")}
    def right(ended) -> list[tuple[str, str]]:
        numbers = [float(word) for word in (ended.folder / "x.mtx").read_text().split("\n")[2:] if word] if ended.status == 0 else []
        return [] if len(numbers) == 2 and all(abs(x - 1) < 1e-7 for x in numbers) else [("answer", str(numbers))]
    cases = []
    for name, text in texts.items():
        for suffix, content in ((".mtx", text.encode()), (".mtx.gz", gzip.compress(text.encode(), mtime=0))):
            cases.append(Case(f"legal{suffix}: {name}", ["solve", "--matrix", "A" + suffix, "--solution", "x.mtx"], {0},
                              inputs={"A" + suffix: content}, outputs={"x.mtx"}, check=right))
    return cases


def cases(_: int) -> list[Case]:
    kept = [refused(f"tests/data/bad/{path.name}", path.read_bytes(), suffix="".join(path.suffixes)) for path in sorted(BAD.iterdir())]
    return (kept + mutated_words() + banners() + compressed() + claims() + right_sides() + structures() + special_files() + legal())
