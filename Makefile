# SPDX-License-Identifier: Apache-2.0
# The front door; the build itself is meson.build. `make help` lists what there is.
.DEFAULT_GOAL := build/weir
.DELETE_ON_ERROR:
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

CCACHE = $(shell command -v ccache)
ifeq ($(origin CC),default)
CC = $(or $(shell command -v gcc),cc)
endif
TEST_CC := clang-19
TIME ?= 60
SOURCES = $(shell find src tests bench -name '*.[ch]' 2>/dev/null)
SANITIZER_ENV = ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1 \
	LSAN_OPTIONS=suppressions=$(CURDIR)/tests/lsan.txt:print_suppressions=0 \
	UBSAN_OPTIONS=print_stacktrace=1 ASAN_SYMBOLIZER_PATH=$(shell command -v llvm-symbolizer-19)

.PHONY: run test test-long check lint fuzz bench fmt deps help build/weir

build/weir: build/build.ninja ## the release executable
	@ninja -C build src/cmd/weir man.stamp
	@ln -sfn src/cmd/weir build/weir

build/build.ninja:
	@tools/deps --check
	CC="$(strip $(CCACHE) $(CC))" meson setup build --buildtype=debugoptimized

build-test/build.ninja:
	@tools/deps --check --tests
	CC="$(strip $(CCACHE) $(TEST_CC))" meson setup build-test -Doptimization=1 -Ddebug=true \
		-Db_sanitize=address,undefined -Db_lundef=false -Dfuzz=true

run: ## play the main job on this machine; ONCE=1 ends after it
	@tools/deps
	@$(MAKE) build/weir
	@ONCE=$(ONCE) tools/demo

test: deps check ## the fast tests, with sanitizers; SUITE=sched for one suite
	@$(MAKE) build-test/build.ninja
	@ninja -C build-test
	@rm -f build-test/meson-logs/testlog.json
	@$(SANITIZER_ENV) meson test -C build-test --no-rebuild --print-errorlogs \
		--no-suite long $(if $(SUITE),--suite $(SUITE)) || true
	@tools/test-summary build-test

test-long: deps ## the slow suites
	@$(MAKE) build/weir # ten million steps of the simulation are its
	@$(MAKE) build-test/build.ninja
	@ninja -C build-test
	@rm -f build-test/meson-logs/testlog.json
	@$(SANITIZER_ENV) meson test -C build-test --no-rebuild --print-errorlogs --suite long \
		--timeout-multiplier 10 || true
	@tools/test-summary build-test

check: build/build.ninja ## format and the rules of the tree, in seconds
	@bad=$$(clang-format-19 --dry-run $(SOURCES) 2>&1 | sed -n 's/:.*code should be clang.*//p' | uniq); \
		[ -z "$$bad" ] || { echo "not laid out by clang-format; \`make fmt\` does it:"; echo "$$bad"; exit 1; }
	@tools/layers --self-test && tools/layers
	@tools/banned --self-test && tools/banned
	@tools/test-summary --self-test
	@ninja -C build --quiet pure
	@tools/pure --self-test && tools/pure build

lint: build-test/build.ninja ## clang-tidy over src/
	@clang-tidy-19 -p build-test --quiet $(filter src/%.c,$(SOURCES))

fuzz: build-test/build.ninja ## FUZZ=json TIME=60: fuzz one parser; new inputs stay in build-test
	@ninja -C build-test
	@mkdir -p build-test/corpus/$(FUZZ)
	@cd build-test && find src -name '*_$(FUZZ)_fuzz' -type f -exec {} -max_total_time=$(TIME) \
		corpus/$(FUZZ) $(wildcard $(CURDIR)/tests/corpus/$(FUZZ)) \;

bench: build/weir ## what the recorded benchmarks measure
	@meson test -C build --benchmark --verbose

fmt: ## lay out every source file
	@clang-format-19 -i $(SOURCES)

deps: ## install the packages that are missing
	@tools/deps --tests

help: ## this list
	@sed -n 's/^\([a-z-]*\(\/weir\)\{0,1\}\):.*## \(.*\)/\1	\3/p' $(MAKEFILE_LIST) | expand -t 14
