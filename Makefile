FUZZ_SECONDS ?= 300

help: ## what there is to make
	@sed -n 's/^\([a-z][a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

# The kept corpus is read, not written: what the fuzzer finds goes to fuzz/corpus.
fuzz: ## run the XML reader on made-up documents (FUZZ_SECONDS=300; needs a nightly toolchain)
	@cargo fuzz --version >/dev/null 2>&1 || cargo install --locked cargo-fuzz
	@mkdir -p fuzz/corpus/domain_xml
	cargo +nightly fuzz run domain_xml fuzz/corpus/domain_xml tests/corpus/domain_xml -- \
		-max_total_time=$(FUZZ_SECONDS) -max_len=20000 -timeout=10

.PHONY: help fuzz
