# make run: see what Hardwon finds.   make test: check everything.   Both install what they need into .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DOCS_VENV := .venv-docs
UV     := $(shell command -v uv 2>/dev/null)

ifdef UV
make_venv = $(UV) venv --quiet --allow-existing --python $(PYTHON) $(VENV)
install   = $(UV) pip install --quiet --python $(BIN)/python --compile-bytecode
make_docs_venv = $(UV) venv --quiet --allow-existing --python $(PYTHON) $(DOCS_VENV) && $(UV) pip install --quiet --python $(DOCS_VENV)/bin/python
else
make_venv = $(PYTHON) -m venv $(VENV)
install   = $(BIN)/python -m pip install --quiet --disable-pip-version-check
make_docs_venv = $(PYTHON) -m venv $(DOCS_VENV) && $(DOCS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check
endif

.PHONY: run test coverage lint bench train train-fusion nightly faults format generated docs pictures release-check lock clean

run: $(VENV)/run.stamp
	@$(BIN)/hardwon up

# Bytecode is kept, whatever the environment says: else each worker compiles all tests, and each command all of ours.
test: lint
	$(BIN)/python -m compileall -q src
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest

coverage: $(VENV)/test.stamp
	$(BIN)/python -m pytest --cov --cov-report=term

lint: $(VENV)/test.stamp
	$(BIN)/ruff check src tests benchmarks tools
	$(BIN)/ruff format --check src tests benchmarks tools
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(VENV)/test.stamp
	$(BIN)/python -m benchmarks

# Fits the weights by which sentences are ranked to the labels beside the checkout, and tells how well they do elsewhere.
train: $(VENV)/test.stamp
	$(BIN)/python -m benchmarks.train_worth

# Tries the weights of search on the questions to tune on, and tells what those are worth on a set that had no say.
train-fusion: $(VENV)/test.stamp
	$(BIN)/python -m benchmarks.fusion

# The campaigns that take too long for every change, and so do their single tests.
campaign = $(BIN)/python -m pytest --timeout=7200 -o faulthandler_timeout=7300
nightly: $(VENV)/test.stamp
	FUZZ_LINES=100000 $(campaign) tests/sessions/test_fuzz.py -n0 -q
	STORE_PROCESSES=64 STORE_WRITES=200 $(campaign) tests/store/test_concurrency.py -n0 -q
	KILL_TRIALS=300 $(campaign) tests/store/test_durability.py -q
	FUZZ_PAYLOADS=10000 $(campaign) tests/hook/test_fuzz.py -n0 -q
	SCHEMA_EXAMPLES=200 $(campaign) tests/serve/test_schema.py -n0 -q
	BIT_FLIPS=300 $(campaign) tests/store/test_repair.py -n0 -q -s
	NEEDLE_STORES=50 $(campaign) tests/briefing/test_task_lanes.py -n0 -q
	HOSTILE_LENGTH=250000 $(campaign) tests/scrub/test_linear_time.py -n0 -q
	EVERY_PAYLOAD=1 $(campaign) tests/serve/test_in_a_browser.py -n0 -q -k hostile
	EVERY_PAYLOAD=1 $(campaign) tests/attacks tests/harvest/test_poison.py tests/harvest/test_distil_attacks.py tests/harvest/test_whose.py -q
	WORLD_RUNS=2000 $(campaign) tests/measure/test_worlds.py -n0 -q
	$(BIN)/python -m benchmarks.push

# What a store goes through, and the table of it in docs/durability.md; FAULTS="--share 0.1" runs a tenth.
faults: $(VENV)/test.stamp
	$(BIN)/python -m benchmarks.faults --write $(FAULTS)

format: $(VENV)/test.stamp
	$(BIN)/ruff check --fix src tests benchmarks tools
	$(BIN)/ruff format src tests benchmarks tools

# What is made from the source: the list of public names, the pages of reference.
generated: $(VENV)/test.stamp
	$(BIN)/python -m tools.make_names
	$(BIN)/python -m tools.make_api_page
	$(BIN)/python -m tools.make_reference
	$(BIN)/python -m tools.make_json_page

# The docs as a site, in site/; a link that leads nowhere fails.
docs: $(DOCS_VENV)/docs.stamp
	NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --quiet --clean
	@echo "open site/index.html; with its search: $(DOCS_VENV)/bin/mkdocs serve"

# The pictures of the README, out of real output; that of the page needs chromium.
pictures: $(VENV)/test.stamp
	$(BIN)/python -m tools.make_pictures

# Wheel and sdist, each installed into an empty environment of every Python there is, and tried.
release-check: $(VENV)/test.stamp
	$(BIN)/python -m tools.release_check

# Needs uv. Not run by itself: in a fresh clone every file is equally new.
lock:
	for part in run test docs; do \
	  uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-header --no-annotate \
	    --no-emit-index-url --no-emit-find-links requirements/$$part.in -o requirements/$$part.txt; done

clean:
	rm -rf $(VENV) $(DOCS_VENV) site dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/run.stamp: requirements/run.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Hardwon needs Python 3.11 or newer; try make PYTHON=python3.12 run")'
	@echo "Making $(VENV) …"
	@$(make_venv)
	@echo "Installing $$(grep -c '==' requirements/run.txt) packages that Hardwon needs …"
	@# The list is complete, so nothing is resolved: pip would refuse an extra that a dependency asks for by another name.
	@$(install) --no-deps --require-hashes -r requirements/run.txt
	@$(install) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q src
	@touch $@

$(DOCS_VENV)/docs.stamp: requirements/docs.txt
	@$(make_docs_venv) --no-deps --require-hashes -r requirements/docs.txt
	@touch $@

$(VENV)/test.stamp: $(VENV)/run.stamp requirements/test.txt
	@$(install) --no-deps --require-hashes -r requirements/test.txt
	@touch $@
