# SPDX-License-Identifier: BSD-3-Clause
"""The last line of `make test`: tools/test-summary on reports of runs that are written here."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SUMMARY = pathlib.Path(__file__).resolve().parents[2] / "tools" / "test-summary"
PASSED, FAILED = "<testcase name='{}'/>", "<testcase name='{}'><failure message='x'/></testcase>"
SKIPPED = "<testcase name='{}'><skipped message='test.cpp:7&#x0A;no GPU on this machine'/></testcase>"


class Summary(unittest.TestCase):
    def run_on(self, tests: dict[str, str], reports: dict[str, list[str]]) -> tuple[int, list[str]]:
        """Status and lines for ctest's own report, names with their status, and those of programs, cases of each."""
        with tempfile.TemporaryDirectory() as folder:
            lines = "".join(f"<testcase name='{name}' status='{status}'/>" for name, status in tests.items())
            pathlib.Path(folder, "ctest.xml").write_text(f"<testsuite>{lines}</testsuite>")
            for name, cases in reports.items():
                text = "".join(case.format(n) for n, case in enumerate(cases))
                pathlib.Path(folder, f"{name}.xml").write_text(f"<testsuites><testsuite>{text}</testsuite></testsuites>")
            run = subprocess.run([sys.executable, SUMMARY, folder], capture_output=True, text=True, check=False)
            return run.returncode, run.stdout.splitlines()

    def test_counts_cases_of_all_programs(self):
        status, lines = self.run_on({"a": "run", "b": "run", "example": "run"}, {"a": [PASSED] * 3, "b": [PASSED] * 2})
        self.assertEqual((status, lines), (0, ["6 passed, 0 failed, 0 skipped"]))

    def test_a_program_that_passed_may_have_skipped_most_cases(self):
        status, lines = self.run_on({"gpu": "run"}, {"gpu": [SKIPPED] * 169 + [PASSED] * 7})
        self.assertEqual(status, 0)
        self.assertEqual(lines, ["skipped 169: no GPU on this machine", "7 passed, 0 failed, 169 skipped"])

    def test_a_failed_case_fails(self):
        status, lines = self.run_on({"a": "fail"}, {"a": [PASSED, FAILED, SKIPPED]})
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 1 skipped"))

    def test_a_program_that_crashed_fails_whatever_its_report_says(self):
        self.assertEqual(self.run_on({"a": "fail"}, {"a": [PASSED] * 4})[0], 1)
        self.assertEqual(self.run_on({"a": "fail"}, {})[1][-1], "0 passed, 1 failed, 0 skipped")

    def test_nothing_run_is_no_success(self):
        self.assertEqual(self.run_on({}, {})[0], 1)
        with tempfile.TemporaryDirectory() as empty:
            run = subprocess.run([sys.executable, SUMMARY, empty], capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 2)
            self.assertIn("no test was run", run.stderr)


if __name__ == "__main__":
    unittest.main()
