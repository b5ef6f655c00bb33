# Everything one does in this repository. `make` alone lists it.
# Each target makes the virtual environment it needs; PY picks the interpreter (make test PY=3.13).

PY   ?= 3.11
AREA ?= all
VENV := $(if $(filter 3.11,$(PY)),.venv,.venv-$(PY))
BIN  := $(VENV)/bin
NEEDS := pyproject.toml constraints.txt tools/venv.sh

# Real data for the tests that want it; they skip, saying so, where it is absent.
export DISCREET_DATA ?= $(abspath ../shared/data)

.DEFAULT_GOAL := help
.PHONY: help demo test check soak install bench docs dist map lint platforms format clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.ready-demo ## Ask, attack, audit and look at the budget, on a public table
	@$(BIN)/discreet demo

# One thread of linear algebra for each worker: more threads than cores wait for each other most of the time.
test check soak: export OPENBLAS_NUM_THREADS = 1
test: install lint ## Everything CI runs: format, lint, types, layers, tests
	$(BIN)/pytest -n 2 --dist loadgroup -m "not slow and not soak"
	NPY_DISABLE_CPU_FEATURES="$$($(BIN)/python tools/vector_units.py)" $(BIN)/pytest -n 2 -m "numeric and not slow and not soak"

check: test platforms ## make test, the tests marked slow, and types on other platforms: an hour at most
	$(BIN)/pytest -n 2 --dist loadgroup -m "slow and not soak"

soak: install ## The long forms of tests: PART=ledger those of one folder; a run broken off goes on
	$(BIN)/pytest -m soak --resume .soak/$(or $(PART),all) $(if $(PART),tests/$(PART),tests)

install: $(VENV)/.ready-all ## Make the environment with every extra and the development tools

bench: install ## Time us against peers: AREA=noise, CHECK=1 fails on a missed bar
	$(BIN)/python -m bench $(AREA) $(if $(CHECK),--check)

docs: install ## Build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

dist: install ## Build wheel and source distribution into dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	@$(BIN)/python -m zipfile -l dist/*.whl | grep discreet/py.typed >/dev/null || { echo "the wheel lacks py.typed"; exit 1; }

map: install ## Draw who imports whom into docs/architecture.svg
	$(BIN)/python tools/map.py

lint: install ## Format check, lint, types, layers
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

platforms: install ## Types on the other platforms
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin

format: install ## Format the code and sort its imports
	$(BIN)/ruff check --fix-only --select I
	$(BIN)/ruff format

clean: ## Remove what was built, caches and environments
	rm -rf .venv .venv-* build dist site demo .bench .soak
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# The stamp is newer than what it was made from, so that a second run costs nothing.
$(VENV)/.ready-%: $(NEEDS)
	@tools/venv.sh $(VENV) $(PY) $*
