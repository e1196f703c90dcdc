# The two commands to know are `make demo` and `make test`. `make help` lists the rest.

CARGO ?= cargo
QUADFILL = target/release/quadfill
PEERS = bench-out/peers.venv

.PHONY: help build demo test format lint docs units bars bench bench-peers fuzz clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

build: ## Build the program (target/release/quadfill)
	$(CARGO) build --release --locked -p quadfill-cli

demo: build ## Build, then fill in a tensor from few of its cells; leaves demo/
	$(QUADFILL) demo --out demo

test: format lint docs units ## Everything that continuous integration checks

format:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

docs:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps

units:
	$(CARGO) test --locked --workspace

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
	rm -rf demo bench-out
