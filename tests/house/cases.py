# SPDX-License-Identifier: BSD-3-Clause
"""The rules of tools/check-house on small made-up trees: each is broken once and more, and kept where it could be mistaken."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

from house import RULES, order, public, table  # noqa: E402
from house.tree import Tree  # noqa: E402

REGISTRY = '''constexpr PrecondEntry entries[] = {
    {"none", "no \\"preconditioner\\" {at all}", {{"none", "nothing"}}, make_identity},
    {.name = "jacobi", .help = "the diagonal"},
    {"ilut", "thresholds", {{"drop", "lfil"}}, make_ilut},
};
bool its_own(std::string name) { return name == "ilut"; }
'''


class Rule(unittest.TestCase):
    """What a rule says about a tree of these files."""

    def tree(self, files: dict[str, str]) -> Tree:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for path, text in files.items():
            file = pathlib.Path(folder.name, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return Tree(pathlib.Path(folder.name))

    def places(self, rule: str, files: dict[str, str]) -> list[str]:
        return [f"{path}:{line}" for path, line, _ in RULES[rule](self.tree(files))]


def include(*paths: str) -> str:
    return "".join(f'#include "{path}"\n' for path in paths)


class Order(Rule):
    def test_broken(self):
        for path, target in (
                ("echelon/factor/a.hpp", "echelon/sweep/b.hpp"), ("echelon/base/a.cu", "echelon/echelon.hpp"),
                ("echelon/problem/a.hpp", "bench/measure/b.hpp"), ("echelon/solve/a.cpp", "tests/b.hpp"), ("cli/a.cpp", "bench/measure/b.hpp"),
                ("cli/a.cpp", "bench/program/b.hpp"), ("bench/measure/a.cpp", "cli/b.hpp"), ("echelon/factor/a.cpp", "../sweep/b.hpp"),
                ("echelon/flow/a.cpp", "echelon/matrix/b.hpp"), ("apps/x/a.cpp", "echelon/matrix/b.hpp"),
                ("apps/x/a.cpp", "bench/program/b.hpp"), ("echelon/flow/a.cpp", "cli/b.hpp"), ("cli/a.cpp", "apps/x/b.hpp"),
                ("echelon/factor/rows_gpu/a.cu", "echelon/factor/grid_gpu/b.hpp"), ("echelon/sweep/grid_gpu/a.cu", "echelon/factor/rows_gpu/b.cuh"),
                ("echelon/factor/blocks_gpu/a.cuh", "echelon/factor/rows_gpu/b.cuh")):
            with self.subTest(path=path, target=target):
                there = target if not target.startswith("..") else "echelon/sweep/b.hpp"
                self.assertEqual(self.places("order", {there: "", path: "\n" + include(target)}), [f"{path}:2"])
        for written in ('#  include <echelon/sweep/b.hpp>\n', '#define HWY_TARGET_INCLUDE "echelon/sweep/b.hpp"\n'):
            self.assertEqual(self.places("order", {"echelon/sweep/b.hpp": "", "echelon/base/a.cpp": written}), ["echelon/base/a.cpp:1"])

    def test_a_folder_without_a_place(self):
        self.assertEqual(self.places("order", {"echelon/helpers/a.hpp": include("echelon/sweep/b.hpp"), "echelon/sweep/b.hpp": ""}),
                         ["echelon/helpers:1"])

    def test_kept(self):
        self.assertEqual(self.places("order", {
            "echelon/public-headers.txt": "# public\nechelon/matrix/b.hpp\n", "echelon/base/a.hpp": "", "echelon/matrix/b.hpp": "",
            "echelon/echelon.hpp": include("echelon/problem/a.hpp"), "bench/measure/b.hpp": "", "bench/ilu/a.hpp": "",
            "echelon/problem/a.hpp": include("echelon/base/a.hpp", "echelon/problem/c.hpp") + '// #include "bench/measure/b.hpp"\n',
            "bench/program/a.cpp": include("cli/a.hpp", "bench/measure/b.hpp"), "cli/a.hpp": include("echelon/echelon.hpp") + "#include <vector>\n",
            "echelon/flow/a.cpp": include("echelon/flow/b.hpp", "echelon/matrix/b.hpp", "echelon/echelon.hpp"),
            "apps/x/a.cpp": include("apps/x/b.hpp", "cli/a.hpp", "echelon/matrix/b.hpp"),
            "tests/a.cpp": include("bench/ilu/a.hpp", "echelon/matrix/b.hpp"), "echelon/factor/blocks_gpu/b.cuh": "",
            "echelon/factor/rows_gpu/a.cu": include("echelon/factor/blocks_gpu/b.cuh", "echelon/schedule/rows_gpu/b.hpp"),
            "echelon/precond/ilu_gpu/a.cpp": include("echelon/factor/rows_gpu/b.hpp", "echelon/factor/grid_gpu/b.hpp")}), [])

    def test_circle(self):
        files = {"echelon/base/a.hpp": include("echelon/sweep/a.hpp"), "echelon/sweep/a.hpp": include("echelon/factor/a.hpp"),
                 "echelon/factor/a.hpp": include("echelon/base/a.hpp"), "echelon/krylov/a.hpp": include("echelon/base/a.hpp")}
        self.assertEqual(order.circle(self.tree(files)), ["echelon/base", "echelon/factor", "echelon/sweep"])
        del files["echelon/factor/a.hpp"]
        self.assertEqual(order.circle(self.tree(files)), [])


class Folders(Rule):
    def test_broken(self):
        self.assertEqual(self.places("folders", {f"tests/a/{i}.{('cu', 'py')[i % 2]}": "" for i in range(41)}), ["tests/a:1"])

    def test_kept(self):
        files = {f"echelon/base/{i}.hpp": "" for i in range(40)}
        files |= {f"echelon/base/cuda/{i}.hpp": "" for i in range(40)} | {f"tests/data/{i}.py": "" for i in range(41)}
        files |= {f"build/{i}.cpp": "" for i in range(41)} | {f"echelon/base/{i}.md": "" for i in range(41)}
        self.assertEqual(self.places("folders", files), [])


class Files(Rule):
    def test_broken(self):
        self.assertEqual(self.places("files", {"cli/a.cpp": "\n" * 501}), ["cli/a.cpp:501"])

    def test_kept(self):
        self.assertEqual(self.places("files", {"cli/a.cpp": "\n" * 500, "docs/a.md": "\n" * 501}), [])


class Types(Rule):
    def broken(self, one: str, other: str, path: str = "echelon/b.cpp") -> None:
        with self.subTest(one=one, other=other):
            self.assertEqual(len(self.places("types", {"echelon/a.hpp": one, path: other})), 1)

    def kept(self, one: str, other: str, paths: tuple[str, str] = ("echelon/a.hpp", "echelon/b.cpp")) -> None:
        with self.subTest(one=one, other=other):
            self.assertEqual(self.places("types", dict(zip(paths, (one, other)))), [])

    def test_broken(self):
        plain = "namespace echelon {\nstruct Plan { int a; };\n}\n"
        self.assertEqual(self.places("types", {"echelon/a.hpp": plain, "echelon/b.cpp": "\n" + plain}), ["echelon/b.cpp:3"])
        for other in ("class Plan final : public Base<int, 3> { enum class E { a }; };", "template <class T> requires (sizeof(T) > 1) struct Plan {};",
                      "enum class Plan : int { a };", "struct [[nodiscard]] Plan {};", "struct alignas(64) Plan\n{};", "MAKE_IT(2)\nunion Plan {};",
                      'const char* text = "{"; struct Plan {};', "constexpr char open = '{'; int n = 1'000'000; struct Plan {};",
                      "const auto s = R\"x({ // )\" {)x\"; struct Plan {};", "#if A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\nstruct Plan {};",
                      "#define OPEN {\\\n  {\nstruct Plan {};", "int table[] = {1, 2};\nstruct Plan {};"):
            self.broken(plain, f"namespace echelon {{\n{other}\n}}\n")
        self.broken("namespace echelon::bench { struct A {}; }", "namespace echelon { inline namespace bench { struct A {}; } }", "bench/measure/b.hpp")
        self.broken("namespace echelon::HWY_NAMESPACE { struct A {}; }",
                    "HWY_BEFORE_NAMESPACE();\nnamespace echelon {\nnamespace HWY_NAMESPACE {\nstruct A {};\n}\n}\nHWY_AFTER_NAMESPACE();", "cli/b.hpp")

    def test_kept(self):
        plain = "namespace echelon { struct Plan {}; }"
        for other in ("struct Plan;", "template <> struct Plan<int> {};", "struct Outer { struct Plan {}; };", "void f() { struct Plan {}; }",
                      "namespace { struct Plan {}; }", "namespace cli { struct Plan {}; }", "struct Plan made() { return {}; }",
                      "// struct Plan {};\n/* struct Plan {}; */", "struct Plan plan = {};", "struct Outer::Plan {};", "using Plan2 = Plan;",
                      "template <class Plan> struct Other {};", "#define P struct Plan {};", "friend class Plan;", "enum { a };"):
            self.kept(plain, f"namespace echelon {{\n{other}\n}}\n")
        self.kept(plain, plain, ("echelon/a_cuda.cu", "echelon/a_cuda_absent.cpp"))
        self.kept(plain, plain, ("echelon/a.hpp", "tests/a.hpp"))
        self.kept("struct Plan {};", "struct Plan {};", ("cli/a.cpp", "cli/b.cpp"))
        self.kept("namespace echelon {\n#if A\nstruct Plan {};\n#else\nstruct Plan { int a; };\n#endif\n}\n", "")

    def test_lost(self):
        self.assertEqual(self.places("types", {"echelon/a.hpp": "namespace echelon {\n", "echelon/b.hpp": "}\n"}), ["echelon/a.hpp:1", "echelon/b.hpp:1"])


class Paths(Rule):
    def places_of(self, text: str, path: str = "docs/a.md") -> list[str]:
        return self.places("paths", {
            "echelon/base/array.hpp": "", "echelon/factor/ilut/ilut_row.inl": "", "echelon/factor/rows_gpu/kernel.cuh": "", "docs/b.md": "",
            "bench/results/h200-trsv.json": "", "bench/results/h200-factor.json": "", "bench/run-peers": "", "tests/base/test_a.cpp": "", path: text})

    def test_broken(self):
        for text in ("base/gone.hpp", "`echelon/base/gone.hpp`.", "(bench/results/h200-{trsv,gone}.json)", "gone.cuh", "factor/gone_*", "factor/gone",
                     "factor/*.cu", "factor/*.inl", "[words](b.md) and [others](gone.md#here)", "tests/base/gone", "gone/array.hpp", "see docs/gone.md",
                     "**base/gone.hpp**", "bench/run-gone", "../bench/gone.json"):
            with self.subTest(text=text):
                found = self.places_of("\n" + text)
                self.assertEqual(found, [] if text.startswith("../") else ["docs/a.md:2"])
        for path, text in (("echelon/base/a.cpp", "int a;  /* one\n base/gone.hpp */"), ("tools/a.py", 'def f():\n    """base/gone.hpp"""\n'),
                           ("tools/a", "#!/bin/sh\n# base/gone.hpp\n"), ("tools/b", "#!/usr/bin/python3\n# base/gone.hpp\n"), ("Makefile", "all:\n# base/gone.hpp\n"),
                           ("CMakeLists.txt", "\nx()  # base/gone.hpp\n")):
            with self.subTest(path=path):
                self.assertEqual(self.places_of(text, path), [f"{path}:2"])

    def test_kept(self):
        for text in ("base/array.hpp, `array.hpp`; echelon/base/array", "factor/ilut/ilut_row.inl:12 and factor/ilut", "factor/ilut* …_row.inl factor/ilut/*.inl",
                     "bench/results/h200-{trsv,factor}.json bench/run-peers", "[a](../bench/results/h200-trsv.json#x) [b](https://x.org/docs/gone.md)",
                     "and/or L/U --a/b GB/s 1/2 n/16 https://x.org/base/gone.hpp", "build/bin/echelon ../shared/data/x.mtx shared/data/gone.json",
                     "echelon/factor/name.{hpp,cpp} name_row.inl bench/<kind>/x.cpp fuzz_NAME.cpp", "hwy/highway.hpp", "`.hpp .cpp .cu`",
                     "<echelon/base/array.hpp>", "tests/base", "factor/rows_gpu/…", "$root/base/gone.hpp"):
            with self.subTest(text=text):
                self.assertEqual(self.places_of(text), [])
        for path, text in (("echelon/base/a.cpp", 'const char* a = "base/gone.hpp";  // base/array.hpp'), ("tools/a.py", 'a = "base/gone.hpp"\n'),
                           ("CHANGELOG.md", "base/gone.hpp"), ("echelon/factor/rows_gpu/b.cuh", "// kernel.cuh, base/test_a.cpp"), ("tests/a.cpp", "// base/test_a.cpp")):
            with self.subTest(path=path):
                expected = ["echelon/factor/rows_gpu/b.cuh:1"] if "rows_gpu" in path else []
                self.assertEqual(self.places_of(text, path), expected)


class Public(Rule):
    files = {"echelon/echelon.hpp": include("echelon/base/a.hpp"), "echelon/base/a.hpp": include("echelon/base/b.hpp"), "echelon/base/b.hpp": "",
             "echelon/base/c.hpp": ""}

    def judged(self, listed: str) -> int:
        return len(self.places("public", {**self.files, public.LIST: listed}))

    def test_broken(self):
        self.assertEqual(self.judged("echelon/base/a.hpp\n"), 1)
        self.assertEqual(self.judged("echelon/base/a.hpp\nechelon/base/b.hpp\nechelon/base/c.hpp\n"), 1)
        self.assertEqual(self.judged("echelon/base/b.hpp\nechelon/base/a.hpp\n"), 1)
        self.assertEqual(len(self.places("public", self.files)), 1)
        self.assertEqual(len(self.places("public", {"echelon/base/a.hpp": ""})), 1)

    def test_kept(self):
        self.assertEqual(self.judged("# What users include.\nechelon/base/a.hpp\nechelon/base/b.hpp\n"), 0)

    def test_written(self):
        tree = self.tree(self.files)
        self.assertEqual(public.write(tree), 2)
        self.assertEqual(list(public.check(Tree(tree.root))), [])


class Names(Rule):
    def count(self, code: str, path: str = "cli/a.cpp", other: str = "") -> int:
        found = self.places("names", {"echelon/precond/registry.cpp": REGISTRY, path: code, "echelon/names.hpp": other})
        self.assertTrue(all(place.startswith(path) for place in found))
        return len(found)

    def test_broken(self):
        for code in ('if (o.pc == "ilut") f();', 'x = "ilut" != pc;', 'if (pc_.name == "none") return;', 'return choice.pc != "jacobi";',
                     'std::string(entry.name) == "jacobi"', 'chosen == "ilut"sv', 'text == std::string_view("ilut")', 'o.pc.starts_with("ilu")',
                     'report->name.find("lut") != 0', 'strcmp(text, "ilut") == 0', 'one_of(o.pc, "auto", "ilut")', 'if (!tried("jacobi")) say();',
                     'preconditioner ==\n    "none"', 'preconditioner\n    == "none"', 'list[i].pc == "none"', 'o.method == "jacobi"'):
            with self.subTest(code=code):
                self.assertEqual(self.count(code), 1)
        self.assertEqual(self.count('return pc == "none" || pc == "ilut";', "echelon/solve/a.hpp"), 2)
        self.assertEqual(self.count("if (o.pc == names::thresholds) f();", other='constexpr std::string_view thresholds = "ilut";'), 1)
        self.assertEqual(self.places("names", {"echelon/precond/registry.cpp": "int none;"}), ["echelon/precond/registry.cpp:1"])

    def test_kept(self):
        for code in ('if (o.shift == "none") f();', 'o.trisolve == "jacobi" || o.scale_matrix != "none"', 'o.pc == "auto"', 'o.solver == "cg"',
                     'report.name = "ilut";', 'make_preconditioner("ilut", A)', 'const auto& e = find_preconditioner("ilut");', '// o.pc == "ilut"',
                     'say("o.pc == ilut");', 'add("gmres", "ilut", 3);', 'if (!find_preconditioner("ilut").make) f();', 'line.starts_with("no")',
                     'o.pc == other.pc', 'FactorScaling::none == scaling', 'fmt::format("{}", "ilut")', 'one_of(o.shift, "none", "auto")'):
            with self.subTest(code=code):
                self.assertEqual(self.count(code), 0)
        self.assertEqual(self.count("if (a.drop == b.drop) f();", other='constexpr std::string_view thresholds = "ilut";'), 0)
        for path in ("echelon/solve/auto_rule.cpp", "echelon/solve/auto_rule_table.cpp", "tests/a.cpp", "bench/ilut/a.cpp"):
            self.assertEqual(self.count('pc == "ilut"', path), 0)


class Instances(Rule):
    def test_broken(self):
        head = '// SPDX-License-Identifier: BSD-3-Clause\n#include "echelon/a.cuh"\n'
        for text in ("namespace echelon {\nMAKE_KERNELS(Star5, 3)\nMAKE_KERNELS(Box9, 3);\n}  // namespace echelon\n", "#define SIDE 2\n#include \"echelon/b.inl\"\n",
                     "namespace echelon::device {\ntemplate void launch<1>(const View&, int);\n}\n"):
            with self.subTest(text=text):
                self.assertEqual(self.places("instances", {"echelon/a_1.cu": head + text}), ["echelon/a_1.cu:1"])

    def test_kept(self):
        for path, text in (("echelon/a_cuda_absent.cpp", "namespace echelon {\nconst Table* table() { return nullptr; }\n}\n"), ("cli/a.cpp", "MAKE(2)\n"),
                           ("echelon/a.hpp", '#include "echelon/b.hpp"\n'), ("echelon/a.cu", "MAKE(2)\n" * 9), ("echelon/a.cu.in", "MAKE(@SIDE@)\n"),
                           ("echelon/a.cpp", "int version() { return 3; }\n")):
            with self.subTest(path=path):
                self.assertEqual(self.places("instances", {path: text}), [])


class Tool(Rule):
    def run_it(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, TOOLS / "check-house", *words], capture_output=True, text=True)

    def test_status(self):
        clean = {**Public.files, public.LIST: "echelon/base/a.hpp\nechelon/base/b.hpp\n", "echelon/precond/registry.cpp": REGISTRY}
        root = str(self.tree(clean).root)
        kept = self.run_it(root)
        self.assertEqual(kept.returncode, 0)
        self.assertIn(" 0 violations", kept.stdout)
        broken = self.run_it(str(self.tree({**clean, "echelon/base/d.cpp": "//\n" + include("cli/a.hpp"), "cli/a.hpp": ""}).root))
        self.assertEqual(broken.returncode, 1)
        self.assertTrue(broken.stdout.startswith("echelon/base/d.cpp:2: includes cli/a.hpp; "), broken.stdout)
        self.assertEqual(self.run_it(root + "/no-such-folder").returncode, 2)
        self.assertEqual(self.run_it("--no-such-option").returncode, 2)
        self.assertEqual(self.run_it(root, "--table").returncode, 0)
        self.assertEqual(self.run_it(root, "--write-public").returncode, 0)

    def test_each_rule_is_broken_and_kept_here(self):
        for rule in RULES:
            group = globals()[rule.capitalize()]
            self.assertTrue(hasattr(group, "test_broken") and hasattr(group, "test_kept"), rule)

    def test_table(self):
        files = {"echelon/base/a.cpp": include("echelon/sweep/b.hpp") + "MAKE(2)\n", "echelon/sweep/b.hpp": include("echelon/base/a.hpp")}
        counts = {what: count for what, count, _ in table.rows(self.tree(files))}
        self.assertEqual(counts["includes against the order, in echelon/"], 1)
        self.assertEqual(counts["folders in a circle"], 2)
        self.assertEqual(counts["files of at most 8 lines that only instantiate"], 1)


if __name__ == "__main__":
    unittest.main()
