# The newcomer's entry points: `make demo`, `make test`. `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CARGO ?= cargo
PREFIX ?= /usr/local
DESTDIR ?=
TARGET := $(or $(CARGO_TARGET_DIR),target)
FUZZ_SECONDS ?= 300
FUZZ_CASES ?= 200000

.PHONY: help deps demo test lint bless bench fuzz lab lab-down install

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install the Debian packages that are missing (as root or through sudo)
	@scripts/deps

demo: deps ## a small cloud in the state of the report, and two scans of it; leaves nothing running
	@$(CARGO) build --quiet --bin volrecon --example lab
	@$(TARGET)/debug/examples/lab demo --volrecon $(TARGET)/debug/volrecon

test: deps ## everything: unit, property, golden, process and lab tests
	@scripts/test

lint: deps ## rustfmt, clippy without warnings, cargo deny (OFFLINE=1: without its advisories)
	$(CARGO) fmt --check
	$(CARGO) clippy --all-targets -- -D warnings
	@$(CARGO) deny --version >/dev/null 2>&1 || $(CARGO) install --quiet --locked cargo-deny
	$(CARGO) deny check bans licenses sources
	@$(CARGO) deny check advisories || { echo 'make lint: the advisory database says no, or could not be fetched (see above)'; test -n "$(OFFLINE)"; }

bless: deps ## rewrite goldens and generated files, to be read in the diff
	BLESS=1 $(CARGO) test

bench: deps ## the speed ratios, measured in one interleaved run
	$(CARGO) bench --bench classify
	$(CARGO) bench --bench scan -- --write BENCHMARKS.md

fuzz: deps ## the properties of the XML reader, many more cases of each (FUZZ_CASES=200000)
	PROPTEST_CASES=$(FUZZ_CASES) $(CARGO) test --test it -- domain_xml::
	@if $(CARGO) fuzz --version >/dev/null 2>&1; then \
	  mkdir -p fuzz/corpus/domain_xml; \
	  RUSTC_BOOTSTRAP=1 $(CARGO) fuzz run --sanitizer none domain_xml fuzz/corpus/domain_xml tests/corpus/domain_xml -- -max_total_time=$(FUZZ_SECONDS) -max_len=20000 -timeout=10; \
	else echo 'cargo-fuzz is not installed: the coverage-guided part was not run (cargo install cargo-fuzz)'; fi

lab: deps ## start the lab on real libvirt, QEMU and Ceph, and keep it up
	@$(CARGO) build --quiet --example lab
	@$(TARGET)/debug/examples/lab up

lab-down: ## take that lab away
	@$(CARGO) build --quiet --example lab
	@$(TARGET)/debug/examples/lab down

install: ## install binary, man pages and completions under PREFIX, below DESTDIR
	$(CARGO) build --release --bin volrecon
	install -D -m 0755 $(TARGET)/release/volrecon $(DESTDIR)$(PREFIX)/bin/volrecon
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man7
	install -m 0644 man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 0644 man/*.7 $(DESTDIR)$(PREFIX)/share/man/man7/
	install -D -m 0644 completions/volrecon.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/volrecon
	install -D -m 0644 completions/_volrecon $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_volrecon
	install -D -m 0644 completions/volrecon.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/volrecon.fish
