# The two commands to know are `make demo` and `make test`. `make help` lists the rest.

CARGO ?= cargo
QUADFILL = target/release/quadfill
PEERS = bench-out/peers.venv
PYTHON ?= python3
VENV = python.venv
DOCS_VENV = docs.venv
PACKAGE = crates/quadfill-python
# One interpreter for all builds, so that nothing is compiled twice.
export PYO3_PYTHON = $(CURDIR)/$(VENV)/bin/python

.PHONY: help build demo test format lint docs docs-site units python python-units bars bench bench-peers fuzz clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

build: ## Build the program (target/release/quadfill)
	$(CARGO) build --release --locked -p quadfill-cli

demo: build ## Build, then fill in a tensor from few of its cells; leaves demo/
	$(QUADFILL) demo --out demo

test: format lint docs units python-units ## Everything that continuous integration checks

format:
	$(CARGO) fmt --all --check

lint: $(VENV)/ready
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

docs: $(VENV)/ready
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps

units: $(VENV)/ready
	$(CARGO) test --locked --workspace

$(VENV)/ready: $(PACKAGE)/requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo "Python 3.10 or later is needed: name it with PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $(PACKAGE)/requirements.txt
	touch $@

python: $(VENV)/ready ## Build the Python package with optimisation into python.venv, and test it
	$(MAKE) python-units PROFILE=release

python-units: $(VENV)/ready
	$(VENV)/bin/ruff format --check $(PACKAGE) examples
	$(VENV)/bin/ruff check $(PACKAGE) examples
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(VENV)/bin/maturin develop --locked --quiet $(if $(PROFILE),--profile $(PROFILE))
	$(VENV)/bin/mypy -p quadfill
	$(VENV)/bin/stubtest --mypy-config-file pyproject.toml quadfill
	$(VENV)/bin/pytest

# Nothing below target/site is fetched from the network by a browser: formulas are MathML, fonts are the system's.
docs-site: $(VENV)/ready $(DOCS_VENV)/ready ## Run the code in the documentation's pages and build them into target/site
	rm -rf target/wheels
	$(VENV)/bin/maturin build --locked --release --quiet --out target/wheels
	$(DOCS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/*.whl
	$(DOCS_VENV)/bin/pytest docs/site/test_pages.py
	NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --strict --config-file docs/site/mkdocs.yml

$(DOCS_VENV)/ready: docs/site/requirements.txt $(PACKAGE)/requirements.txt
	$(PYTHON) -m venv --clear $(DOCS_VENV)
	$(DOCS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r docs/site/requirements.txt -r $(PACKAGE)/requirements.txt
	touch $@

bars: build ## Recovery, certified optima and resuming after kills, as a user would run it (minutes)
	crates/quadfill-bench/recovery.sh $(QUADFILL)
	crates/quadfill-bench/certified.sh $(QUADFILL)
	crates/quadfill-bench/kill.sh $(QUADFILL)

bench: build ## Speed, memory and reading, against this machine's limits and any peers; ONLY=PART, ARGS="--row TEXT ..."
	$(CARGO) build --release --locked -p quadfill-bench
	target/release/quadfill-bench $(if $(wildcard $(PEERS)/bin/python),--peers $(PEERS)) $(if $(DATA),--data $(DATA)) \
		$(if $(ONLY),--only $(ONLY)) $(ARGS)

bench-peers: build ## The same beside myFM, LensKit, libmf and polars, set up in a virtual environment
	crates/quadfill-bench/peers/setup.sh $(PEERS)
	$(MAKE) bench

fuzz: ## Fuzz every reader and the model file, FUZZ_SECONDS each (default 300)
	fuzz/all.sh $${FUZZ_SECONDS:-300}

clean: ## Remove what was built
	$(CARGO) clean
	rm -rf demo bench-out $(VENV) $(DOCS_VENV)
