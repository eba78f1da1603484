# SPDX-License-Identifier: BSD-3-Clause
# Every target does all it needs, packages included. `make demo` and `make test` are the two a newcomer types.
SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
JOBS ?= $(shell nproc)
CMAKE ?= cmake
LABEL ?= .
# Archer tells the thread sanitizer about OpenMP's own synchronisation.
ARCHER = $(firstword $(wildcard /usr/lib/llvm-*/lib/libarcher.so))

.PHONY: demo configure build test sanitize test-asan test-tsan fuzz bench bench-peers gpu-test gpu-pack gpu-sanitize gpu-bench format tidy clean packages peers-packages

# What it runs and no more: without a GPU the CUDA kernels, nearly all of a whole build, are left out. CUDA=1 builds them all
# the same, CUDA=0 leaves them out where there is a GPU.
CUDA ?= $(shell nvidia-smi -L >/dev/null 2>&1 && echo 1)
DEMO = $(if $(filter 1,$(CUDA)),release,demo)
DEMO_BUILD = $(if $(filter 1,$(CUDA)),build,build/demo)
demo:
	@echo "1/4 packages of the distribution that are missing"
	@tools/bootstrap program
	@echo "2/4 configuring: $(if $(filter 1,$(CUDA)),with CUDA kernels,for this CPU only ('make demo CUDA=1' builds the kernels for GPUs too))"
	@$(CMAKE) --preset $(DEMO) > build-configure.log 2>&1 || { cat build-configure.log; rm -f build-configure.log; exit 1; }
	@rm -f build-configure.log
	@echo "3/4 building the program, $(if $(filter 1,$(CUDA)),about a quarter of an hour,three to four minutes) on two cores; a second time only what changed"
	@$(CMAKE) --build $(DEMO_BUILD) -j$(JOBS) --target echelon_program
	@mkdir -p build/bin; [ -x build/bin/echelon ] || ln -sf ../demo/bin/echelon build/bin/echelon
	@echo "4/4 solving the Poisson equation on 64x64x64 points"
	$(DEMO_BUILD)/bin/echelon solve --problem poisson --grid 64 --solver cg --pc ic --plot build/demo.svg
	@echo "The residual's history is drawn in build/demo.svg. The program is build/bin/echelon: build/bin/echelon solve --help"

packages:
	@tools/bootstrap

peers-packages:
	@tools/bootstrap peers

# A link that `make demo` left would have the whole program written into the demo's folder.
configure: packages
	@[ ! -L build/bin/echelon ] || rm -f build/bin/echelon
	@$(CMAKE) --preset release > build-configure.log 2>&1 || { cat build-configure.log; rm -f build-configure.log; exit 1; }
	@grep -E '(CUDA|MPI):' build-configure.log; rm -f build-configure.log

build: configure
	@$(CMAKE) --build build -j$(JOBS)

# The last line counts the cases of all programs; those that were skipped are listed by their reasons above it.
test: build
	@rm -rf build/test-results; mkdir -p build/test-results
	@status=0; (cd build && ctest --output-on-failure -j$(JOBS) -L '$(LABEL)' --output-junit test-results/ctest.xml) || status=1; \
	  tools/test-summary build/test-results || status=1; exit $$status

# For CI: the sanitizers and the fuzzer on a few programs of the host's code, about a minute each once they are built.
ASAN_TESTS = test_bad_files test_bad_systems test_ilu_rows test_krylov_rows test_struct_ilu test_ilut test_matching test_dbsr_sweep
TSAN_TESTS = test_concurrent_apply test_dbsr test_line_groups test_sweep_plan test_vector_ops
only = ^($(subst $() ,|,$(1)))$$
sanitize: packages
	$(CMAKE) --preset asan && $(CMAKE) --build build/asan -j$(JOBS) --target $(ASAN_TESTS)
	cd build/asan && $(ASAN_ENVIRONMENT) ctest --output-on-failure -j$(JOBS) -R '$(call only,$(ASAN_TESTS))'
	$(CMAKE) --preset tsan && $(CMAKE) --build build/tsan -j$(JOBS) --target $(TSAN_TESTS)
	cd build/tsan && $(TSAN_ENVIRONMENT) ctest --output-on-failure -j$(JOBS) -R '$(call only,$(TSAN_TESTS))'
	$(MAKE) fuzz FUZZ_SECONDS=60

ASAN_ENVIRONMENT = ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=suppressions=$(CURDIR)/tools/lsan.supp UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
TSAN_ENVIRONMENT = OMP_TOOL_LIBRARIES=$(ARCHER) OMP_NUM_THREADS=4 TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1"
test-asan: packages
	$(CMAKE) --preset asan && $(CMAKE) --build build/asan -j$(JOBS)
	cd build/asan && $(ASAN_ENVIRONMENT) ctest --output-on-failure -j$(JOBS) -L quick

# Without the tests of signals: the sanitizer holds signals back, so a process that waits for its input never sees them.
test-tsan: packages
	$(CMAKE) --preset tsan && $(CMAKE) --build build/tsan -j$(JOBS)
	cd build/tsan && $(TSAN_ENVIRONMENT) ctest --output-on-failure -j$(JOBS) -L quick -E test_cli_trouble

FUZZ_SECONDS ?= 60
fuzz: packages
	$(CMAKE) --preset fuzz && $(CMAKE) --build build/fuzz -j$(JOBS) --target fuzz_programs
	tools/fuzz build/fuzz $(FUZZ_SECONDS)

# Each result replaces the committed one of this machine; a listed shape that is missing fails.
MACHINE ?= xeon2
bench: peers-packages build
	for kind in trsv factor solver convergence; do \
	  build/bin/echelon bench $$kind --machine $(MACHINE) --json bench/results/$(MACHINE)-$$kind.json --plot bench/results/$(MACHINE)-$$kind.svg || exit 1; \
	done

bench-peers: peers-packages build
	$(CMAKE) --build build -j$(JOBS)
	bench/run-peers

gpu-test:
	build/tests/test_gpu

# For a machine that cannot build (tools/pack-gpu says how to use it there).
gpu-pack: build
	tools/pack-gpu build/gpu.txz

# The four tools on one small case of each kernel; racecheck takes the preset of its name (docs/guide/gpu.md).
gpu-sanitize:
	for tool in memcheck initcheck synccheck; do \
	  compute-sanitizer --tool $$tool --error-exitcode 1 build/tests/test_gpu --gtest_filter='*OneSmallCase*' || exit 1; \
	done
	compute-sanitizer --tool racecheck --error-exitcode 1 build/racecheck/tests/test_gpu --gtest_filter='*OneSmallCase*'

# On a machine with a GPU, with what was built before: table 3 beside cuSPARSE, its larger sizes alone, growing sides, the
# breakdown; whole solves, preconditioners compared, block CSR, iterated triangular solves.
GPU ?= h200
gpu-bench:
	build/bin/echelon info
	for kind in trsv factor; do \
	  build/bin/echelon bench $$kind --backend cuda --machine $(GPU) --json bench/results/$(GPU)-$$kind.json --plot bench/results/$(GPU)-$$kind.svg || exit 1; \
	  build/bin/echelon bench $$kind --backend cuda --column a100 --machine $(GPU) --json bench/results/$(GPU)-$$kind-a100.json || exit 1; \
	  for column in growing breakdown; do \
	    build/bin/echelon bench $$kind --backend cuda --column $$column --machine $(GPU) --json bench/results/$(GPU)-$$kind-$$column.json --plot bench/results/$(GPU)-$$kind-$$column.svg || exit 1; \
	  done; \
	done
	for kind in solver convergence block trisolve; do \
	  build/bin/echelon bench $$kind --backend cuda --machine $(GPU) --json bench/results/$(GPU)-$$kind.json --plot bench/results/$(GPU)-$$kind.svg || exit 1; \
	done

format:
	git ls-files '*.cpp' '*.hpp' '*.cu' '*.inl' | xargs clang-format -i

tidy: build
	run-clang-tidy -quiet -p build $(shell git ls-files 'echelon/*.cpp' 'cli/*.cpp')

clean:
	rm -rf build
