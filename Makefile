# The two commands of the README are `make demo` and `make test`.
.PHONY: demo check test test-torch test-engines test-adapters test-pythons bench format lint docs \
	rust-test bench-test reference page-test experiments experiments-quick wheel python-test bench-peers \
	instructions stubs new-noise gpu-wheel bench-losses release-check dependencies interface pages site program

PYTHON ?= python3
VENV := .venv
TORCH := .venv-torch
ENGINES := .venv-engines
ADAPTERS := .venv-adapters
# Modules for other libraries, each of the name of its library.
ADAPTED := mne neurokit nwb obspy seisbench sktime
PEERS := .venv-peers
AUDIT := .venv-audit
SITE := .venv-site
RELEASE := target/release-check
PAGE := crates/unjitter-cli/tests/page
EXPERIMENTS := $(addprefix experiments/,$(addsuffix .toml,kept human spread pressed components classifiers segments))
# What results were made with; changes that are not committed count, so that no stale work is used.
COMMIT = $(shell git describe --always --dirty=-changed-$$(git diff HEAD | cksum | cut -d' ' -f1))

demo:
	cargo run --release --quiet -p unjitter-cli -- demo --force

# What to run while working: format, lints, the library's tests, the oracle.
check:
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets -- -D warnings
	cargo test --quiet -p unjitter --lib --tests
	$(PYTHON) -m unittest discover -s reference -q
	$(PYTHON) reference/oracle.py --check

# What everybody can run before a change; .ci/run has the rest.
test: lint docs rust-test bench-test reference page-test experiments-quick python-test

format: $(VENV)/.ready
	cargo fmt --all
	$(VENV)/bin/ruff format --quiet --config python/pyproject.toml python benches site \
		crates/unjitter-cli/tests/new_noise

lint: $(VENV)/.ready
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(VENV)/bin/ruff format --quiet --check --config python/pyproject.toml python benches site \
		crates/unjitter-cli/tests/new_noise
	$(VENV)/bin/ruff check --quiet python
	$(VENV)/bin/ruff check --quiet --config python/pyproject.toml benches site \
		crates/unjitter-cli/tests/new_noise

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

rust-test:
	cargo test --workspace --quiet
	$(if $(wildcard ../shared/data),cargo test --quiet --workspace --test real_data --test inspection -- \
		--ignored,@echo "no recordings beside the checkout: the tests that need them were not run")

# Benches in test mode: each runs once, so that none can rot.
bench-test:
	cargo test --workspace --quiet --benches

# Instructions of the core kernels, counted under valgrind where there is one.
instructions:
	cargo bench --quiet -p unjitter --bench instructions

# Golden numbers, recomputed by other implementations and compared with the committed ones.
reference: $(VENV)/.ready
	$(PYTHON) -m unittest discover -s reference -q
	$(PYTHON) reference/oracle.py --check
	$(VENV)/bin/python reference/scipy_minima.py --check
	$(VENV)/bin/python reference/metrics.py --check
	$(VENV)/bin/python reference/runs.py --check
	$(VENV)/bin/python reference/bouts.py --check

# sed_scores_eval asks for `pathlib`, which Python has long had itself: the old one would hide it from some programs.
$(VENV)/.ready: python/requirements-test.txt reference/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r $<
	$(VENV)/bin/pip uninstall --quiet --yes pathlib
	touch $@

# The programs as their tests use them. Of the whole workspace, always: one package by itself would choose other
# features of what it depends on, and all would be compiled again.
program:
	cargo test --workspace --no-run --quiet

# The Python package, built and installed; with checks for overflow, which a release leaves out, and with dependencies
# as `program` compiles them.
wheel: $(VENV)/.ready
	rm -rf target/wheels
	$(VENV)/bin/maturin build --quiet --manifest-path python/Cargo.toml --features as-tested \
		--out target/wheels
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps \
		target/wheels/*.whl

# The last lines: the README as it stands, where nothing is installed but the wheel and its needs.
python-test: wheel program
	$(VENV)/bin/mypy --config-file python/pyproject.toml --package unjitter
	$(VENV)/bin/python -m mypy.stubtest unjitter._core \
		--allowlist python/stubtest-allowlist.txt
	cd python/tests && UNJITTER=$(CURDIR)/target/debug/unjitter \
		$(CURDIR)/$(VENV)/bin/pytest --quiet --ignore torch_loss --ignore engines \
		--ignore adapters .
	$(VENV)/bin/python benches/calibration.py --quick
	cd python/tests && $(CURDIR)/$(VENV)/bin/pytest --quiet --doctest-modules --pyargs unjitter \
		--ignore-glob '/*/unjitter/torch/*' --ignore-glob '/*/unjitter/dask.py' \
		--ignore-glob '/*/unjitter/spark.py' $(ADAPTED:%=--ignore-glob '/*/unjitter/%.py')
	rm -rf target/bare
	$(PYTHON) -m venv --without-pip target/bare
	$(VENV)/bin/pip --python target/bare install --quiet --disable-pip-version-check \
		target/wheels/*.whl
	target/bare/bin/python -m doctest README.md

# The code in the pages, run and compared with what they show; figures that it draws go to the site.
pages: wheel program
	$(VENV)/bin/pytest --quiet site/tests
	PATH=$(CURDIR)/target/debug:$(PATH) $(VENV)/bin/python site/run.py target/pages

# The documentation, whole and without a broken link, to be read without a network: target/site/index.html.
site: pages $(SITE)/.ready site/node_modules/.package-lock.json
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps -p unjitter
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --quiet --strict --config-file site/mkdocs.yml

site/node_modules/.package-lock.json: site/package-lock.json
	cd site && npm ci --silent --no-audit --no-fund

$(SITE)/.ready: site/requirements.txt
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

# What type checkers are told of the classes of the noise models, which are made when Python starts.
stubs: $(VENV)/.ready
	cargo build --quiet -p unjitter-python --features as-tested
	rm -rf target/stubs && cp -r python target/stubs
	cp target/debug/lib_core.so target/stubs/unjitter/_core.abi3.so
	$(VENV)/bin/python target/stubs/noise_stubs.py > python/unjitter/_noises.pyi

# A noise model, added to a copy of the sources by the steps of CONTRIBUTING.md.
new-noise: $(VENV)/.ready
	$(VENV)/bin/python crates/unjitter-cli/tests/new_noise/run.py

# The PyTorch loss, in an environment of its own: torch brings gigabytes that no other test needs.
test-torch: wheel $(TORCH)/.ready
	$(TORCH)/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps \
		target/wheels/*.whl
	$(TORCH)/bin/mypy --strict --package unjitter.torch
	cd python/tests/torch_loss && $(CURDIR)/$(TORCH)/bin/pytest --quiet .
	cd python/tests/torch_loss && $(CURDIR)/$(TORCH)/bin/pytest --quiet --doctest-modules \
		--pyargs unjitter.torch --ignore-glob '*/torch/_gpu/*'
	$(TORCH)/bin/python site/run.py target/pages-torch docs/topics/networks.md
	TRITON_INTERPRET=1 $(TORCH)/bin/python -W ignore benches/gpu/run.py --quick > /dev/null
	$(TORCH)/bin/python benches/losses/run.py --quick

# Losses for sloppy stamps side by side, half an hour; interrupted work goes on where it was.
bench-losses: wheel $(TORCH)/.ready
	$(TORCH)/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps \
		target/wheels/*.whl
	$(TORCH)/bin/python benches/losses/run.py
	$(TORCH)/bin/python benches/losses/run.py --page

# What benches/gpu/run.py takes to a machine with a GPU.
gpu-wheel: $(VENV)/.ready
	rm -rf target/gpu
	$(VENV)/bin/maturin build --release --quiet --manifest-path python/Cargo.toml --out target/gpu

$(TORCH)/.ready: python/requirements-torch.txt python/requirements-test.txt
	$(PYTHON) -m venv $(TORCH)
	$(TORCH)/bin/pip install --quiet --disable-pip-version-check --no-cache-dir -r $<
	touch $@

# Real clusters of Dask and Spark on this machine, in an environment of their own. Spark needs Java 17.
test-engines: wheel $(ENGINES)/.ready
	$(ENGINES)/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps \
		target/wheels/*.whl
	cd python/tests/engines && $(CURDIR)/$(ENGINES)/bin/pytest --quiet .

$(ENGINES)/.ready: python/requirements-engines.txt
	python/tests/engines/install
	$(PYTHON) -m venv $(ENGINES)
	$(ENGINES)/bin/pip install --quiet --disable-pip-version-check --no-cache-dir -r $<
	touch $@

# Objects and files of other libraries, in an environment of their own.
test-adapters: wheel $(ADAPTERS)/.ready
	$(ADAPTERS)/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps \
		target/wheels/*.whl
	cd python/tests/adapters && $(CURDIR)/$(ADAPTERS)/bin/pytest --quiet .
	cd python/tests/adapters && $(CURDIR)/$(ADAPTERS)/bin/pytest --quiet --doctest-modules \
		--pyargs $(ADAPTED:%=unjitter.%)

$(ADAPTERS)/.ready: python/requirements-adapters.txt
	$(PYTHON) -m venv $(ADAPTERS)
	$(ADAPTERS)/bin/pip install --quiet --disable-pip-version-check --no-cache-dir -r $<
	touch $@

# One wheel serves all versions of Python: the same file on every one that is installed here.
test-pythons: wheel program
	for version in 3.10 3.11 3.12 3.13; do \
		python$$version --version 2> /dev/null || continue; \
		python$$version -m venv target/python$$version && \
		target/python$$version/bin/pip install --quiet --disable-pip-version-check \
			target/wheels/*.whl pandas polars pyarrow matplotlib mir_eval onnx onnxruntime pytest && \
		(cd python/tests && UNJITTER=$(CURDIR)/target/debug/unjitter \
			$(CURDIR)/target/python$$version/bin/pytest --quiet --ignore torch_loss --ignore engines \
			--ignore adapters --ignore stamps \
			--ignore test_tutorials.py --ignore test_estimator_checks.py .) || exit 1; \
	done

# What a release consists of, built and installed as by a stranger: crates and the source distribution from their
# packages, in clean folders. It wants a clean checkout. A quarter of an hour. The lock file of the program says that the
# library is from a registry, which may not have it yet: `cargo fetch` writes there that it lies beside, and nothing else.
release-check: $(VENV)/.ready
	rm -rf target/package $(RELEASE)
	mkdir -p $(RELEASE)
	cargo publish --dry-run --no-verify --locked -p unjitter -p unjitter-cli
	cargo package --quiet --locked -p unjitter -p unjitter-cli
	for crate in target/package/*.crate; do tar -xzf $$crate -C $(RELEASE) || exit 1; done
	cd $(RELEASE)/unjitter-cli-* && \
		library="patch.crates-io.unjitter.path='$$(echo $(CURDIR)/$(RELEASE)/unjitter-[0-9]*)'" && \
		cargo fetch --quiet --config "$$library" && \
		cargo install --quiet --locked --path . --root ../program --config "$$library"
	cd $(RELEASE) && program/bin/unjitter demo --quiet --output demo && test -s demo/report.html
	$(VENV)/bin/maturin sdist --manifest-path python/Cargo.toml --out $(RELEASE)
	$(PYTHON) -m venv $(RELEASE)/bare
	cd $(RELEASE) && bare/bin/pip install --quiet --disable-pip-version-check unjitter-*.tar.gz && \
		bare/bin/python $(CURDIR)/python/tests/installed.py

# Whether the library's interface promises what the last version that was tagged did (by `cargo install
# cargo-semver-checks`). Before the first there is nothing to compare with: nobody was promised anything.
interface:
	@last=$$(git describe --tags --abbrev=0 --match 'v*' HEAD^ 2> /dev/null); \
	if [ -z "$$last" ]; then echo "no version was tagged before this one: no interface to compare with"; else \
		cargo semver-checks -p unjitter --baseline-rev "$$last"; fi

# Licences and sources of all crates (by `cargo install cargo-deny`), and the workflows. Advisories, of crates and of Python's
# packages, are looked up where their databases can be had: in .github/workflows/ci.yml.
dependencies: $(AUDIT)/.ready
	cargo deny --all-features check licenses bans sources
	$(AUDIT)/bin/zizmor --offline --quiet .github/workflows

$(AUDIT)/.ready:
	$(PYTHON) -m venv $(AUDIT)
	$(AUDIT)/bin/pip install --quiet --disable-pip-version-check pip-audit zizmor
	touch $@

# The paper's experiments, half an hour on two cores; interrupted work goes on where it was.
experiments:
	cargo run --release --quiet -p unjitter-experiments -- $(EXPERIMENTS) --commit $(COMMIT)

# A small version of each.
experiments-quick: program
	rm -rf target/experiments
	target/debug/unjitter-experiments $(EXPERIMENTS) --quick --output target/experiments

# The report in headless Chromium: a made-up one with every oddity, and the demo's. Then the page of review. Of the
# tests all are looked through for the one, since `--lib` would build the Python package as a program of tests.
page-test: $(PAGE)/node_modules/.ready program
	mkdir -p target/page
	UNJITTER_PAGE=$(CURDIR)/target/page/fixture.html \
		cargo test --quiet --workspace --tests a_page_with_everything_on_it > /dev/null
	target/debug/unjitter demo --quiet --force --output target/page/demo
	cd $(PAGE) && UNJITTER_PAGE=$(CURDIR)/target/page/fixture.html node --test page.test.mjs
	cd $(PAGE) && UNJITTER_PAGE=$(CURDIR)/target/page/demo/report.html node --test demo.test.mjs
	cd $(PAGE) && node --test review.test.mjs
	cd $(PAGE) && node --test review-speed.test.mjs
	cd $(PAGE) && UNJITTER=$(CURDIR)/target/debug/unjitter UNJITTER_DEMO=$(CURDIR)/target/page/demo \
		node --test review-demo.test.mjs

$(PAGE)/node_modules/.ready: $(PAGE)/package-lock.json
	$(PAGE)/install

bench:
	cargo bench --workspace

# Beside other libraries, a quarter of an hour: all sections, or SECTIONS="inference learning".
# PyTorch takes part where `make test-torch` has installed it.
bench-peers: $(PEERS)/.ready
	cargo build --release --quiet -p unjitter-cli
	PEERS_TORCH=$(wildcard $(TORCH)/bin/python) $(PEERS)/bin/python benches/peers/run.py $(SECTIONS)

$(PEERS)/.ready: benches/peers/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@
