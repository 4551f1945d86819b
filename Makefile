# Everything happens in one virtual environment, .venv, made by the first target that needs it.
# Versions and hashes are locked in requirements/; `make lock` renews them.
# Another Python than python3: make demo PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INPUTS ?= 1000000
LOADS ?= 100000
SEED ?= 0
WORKERS ?= auto
KEEP ?= fuzz-failures
PROSE := README.md CHANGELOG.md CODE_OF_CONDUCT.md CONTRIBUTING.md SECURITY.md docs src baselines sequences examples tools
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCK := uv pip compile --quiet --universal --python-version 3.11 \
	--no-emit-index-url --no-emit-find-links --generate-hashes --no-header

.PHONY: help demo test test-long test-all check fuzz docs pyright bench bench-quick lock release-check check-min clean

help:
	@echo "make demo      topics of the documentation of Python's standard library, with a report, in demo/"
	@echo "make test      format, lint, types, spelling and tests, a worker for each core (another number: WORKERS=4; 0: this process)"
	@echo "make test-all  also clusters, browsers, pages, trials by chance, long laws, plug-ins (make test-long: these alone)"
	@echo "make check     what make test does, without the tests"
	@echo "make fuzz      trials by chance of files, saved models, kills and numbers, for many hours (a short run:"
	@echo "               make fuzz INPUTS=10000 LOADS=1000; another one: SEED=1; failing inputs are kept in fuzz-failures/)"
	@echo "make pyright   what an editor says of examples/ and tests/typing/ (pyright brings Node.js along: 283 MB)"
	@echo "make docs      the documentation, as a web site in site/"
	@echo "make bench     every command on the pages of the benchmarks, for many hours (STICKBREAK_DATA names the corpora)"
	@echo "make bench-quick  all systems side by side on little data, for some minutes"
	@echo "make release-check  whether this tree can be released: builds, and tries the wheel in a clean environment"
	@echo "make check-min the tests on the oldest versions that pyproject.toml allows (needs uv)"
	@echo "make lock      renew the locked versions in requirements/ (needs uv)"
	@echo "make clean     remove .venv and all that was made"

demo: $(VENV)/run.stamp
	$(BIN)/stickbreak demo --out demo

# Kernels are compiled before the workers would each compile their own: by two processes, while the rest of the
# environment is installed and the source is checked. A file stays whole: its tests share fits.
FIRST = topics variational
SECOND = gibbs hybrid tree vectors
# Some environments forbid Python to keep what it compiles of our own source: then each of hundreds of processes would
# compile it again.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/run.stamp
	@$(BIN)/python -m tools.warm $(FIRST) & first=$$!; \
	$(BIN)/python -m tools.warm $(SECOND) & second=$$!; \
	$(MAKE) --no-print-directory check || { kill $$first $$second; exit 1; }; \
	wait $$first && wait $$second
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "not long"

# The rest: clusters, browsers, pages, trials by chance, long laws, plug-ins. A desk needs it before a release, and CI always.
test-long: export PYTHONDONTWRITEBYTECODE :=
test-long: $(VENV)/run.stamp $(VENV)/dev.stamp
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m long

test-all: test test-long

check: $(VENV)/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/codespell $(PROSE)
	$(BIN)/mypy

# Each trial runs even if one before it has failed.
fuzz: $(VENV)/dev.stamp
	@failed=0; \
	for trial in "readers --inputs $(INPUTS) --keep $(KEEP)" "loaders --inputs $(LOADS) --keep $(KEEP)" \
			kills faults determinism numbers; do \
		echo "python -m fuzz $$trial --seed $(SEED)"; \
		$(BIN)/python -m fuzz $$trial --seed $(SEED) || failed=1; \
	done; exit $$failed

pyright: $(VENV)/pyright.stamp
	$(BIN)/basedpyright --pythonpath $(BIN)/python

docs: $(VENV)/dev.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site

bench-quick: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks quick

bench: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks pages

lock:
	$(LOCK) pyproject.toml --output-file requirements/run.txt
	$(LOCK) pyproject.toml --group dev --group bench --constraint requirements/run.txt --output-file requirements/dev.txt
	$(LOCK) --group pyright --constraint requirements/dev.txt --output-file requirements/pyright.txt
	$(LOCK) requirements/build.in --constraint requirements/dev.txt --output-file requirements/build.txt

release-check: $(VENV)/dev.stamp
	$(BIN)/python -m tools.release_check

check-min: $(VENV)/venv.stamp
	$(BIN)/python -m tools.check_min

clean:
	rm -rf $(VENV) site demo dist benchmarks/results .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks

# --- the environment ------------------------------------------------------------------------------------------------
# A stamp says that what it depends on is installed. dev.txt holds all of run.txt, so the first also makes the second.

$(VENV)/venv.stamp:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is not installed; stickbreak needs Python 3.11 or newer" \
		"(another name: make PYTHON=python3.12 ...)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "stickbreak needs Python 3.11 or newer," \
		"but $(PYTHON) is $$($(PYTHON) --version 2>&1); name a newer one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "making the virtual environment $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/build.stamp: requirements/build.txt | $(VENV)/venv.stamp
	@$(INSTALL) --require-hashes --requirement requirements/build.txt
	@touch $@

$(VENV)/package.stamp: pyproject.toml baselines/pyproject.toml sequences/pyproject.toml $(VENV)/build.stamp
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@$(INSTALL) --no-deps --no-build-isolation --editable ./baselines
	@$(INSTALL) --no-deps --no-build-isolation --editable ./sequences
	@touch $@

$(VENV)/run.stamp: requirements/run.txt $(VENV)/package.stamp
	@echo "installing what stickbreak needs (once; a minute or two) ..."
	@$(INSTALL) --require-hashes --requirement requirements/run.txt
	@touch $@

$(VENV)/dev.stamp: requirements/dev.txt $(VENV)/package.stamp
	@echo "installing what the tests and the documentation need (once; a minute or two) ..."
	@$(INSTALL) --require-hashes --requirement requirements/dev.txt
	@touch $(VENV)/run.stamp $@

$(VENV)/pyright.stamp: requirements/pyright.txt $(VENV)/dev.stamp
	@$(INSTALL) --require-hashes --requirement requirements/pyright.txt
	@touch $@
