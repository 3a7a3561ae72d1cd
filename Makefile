# The two commands of the README are `make demo` and `make test`.
.PHONY: demo test bench format lint docs rust-test bench-test reference page-test \
	experiments experiments-quick

PYTHON ?= python3
VENV := .venv
PAGE := crates/unjitter-cli/tests/page
EXPERIMENTS := $(addprefix experiments/,$(addsuffix .toml,kept human spread pressed components classifiers))
# What results were made with; changes that are not committed count, so that no stale work is used.
COMMIT = $(shell git describe --always --dirty=-changed-$$(git diff HEAD | cksum | cut -d' ' -f1))

demo:
	cargo run --release --quiet -p unjitter-cli -- demo --force

test: lint docs rust-test bench-test reference page-test experiments-quick

format:
	cargo fmt --all

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

rust-test:
	cargo test --workspace --quiet

# Benches in test mode: each runs once, so that none can rot.
bench-test:
	cargo test --workspace --quiet --benches

# Golden numbers, recomputed by other implementations and compared with the committed ones.
reference: $(VENV)/.ready
	$(PYTHON) -m unittest discover -s reference -q
	$(PYTHON) reference/oracle.py --check
	$(VENV)/bin/python reference/scipy_minima.py --check
	$(VENV)/bin/python reference/metrics.py --check

$(VENV)/.ready: reference/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r reference/requirements.txt
	touch $@

# The paper's experiments, under an hour on two cores; interrupted work goes on where it was.
experiments:
	cargo run --release --quiet -p unjitter-cli -- experiment $(EXPERIMENTS) --commit $(COMMIT)

# A small version of all six.
experiments-quick:
	rm -rf target/experiments
	cargo run --quiet -p unjitter-cli -- experiment $(EXPERIMENTS) --quick --output target/experiments

# The report in headless Chromium: a made-up one with every oddity, and the demo's.
page-test: $(PAGE)/node_modules/.ready
	mkdir -p target/page
	UNJITTER_PAGE=$(CURDIR)/target/page/fixture.html \
		cargo test --quiet -p unjitter-cli --bin unjitter a_page_with_everything_on_it
	cargo run --quiet -p unjitter-cli -- demo --quiet --force --output target/page/demo
	cd $(PAGE) && UNJITTER_PAGE=$(CURDIR)/target/page/fixture.html node --test page.test.mjs
	cd $(PAGE) && UNJITTER_PAGE=$(CURDIR)/target/page/demo/report.html node --test demo.test.mjs

$(PAGE)/node_modules/.ready: $(PAGE)/package-lock.json
	$(PAGE)/install

bench:
	cargo bench --workspace
