# Everything a fresh machine with Python >= 3.11 and make needs: `make demo`, `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test test-all lint bench bench-quick clean

# Storm ships wheels for Linux and macOS only; where there is none, the tests that need it are skipped.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "umdp needs Python 3.11 or later; try make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	$(BIN)/python -m pip install --quiet --editable '.[storm]' || echo "Storm has no wheel here: its tests will be skipped."
	@touch $@

demo: $(READY)
	@rm -f demo.run demo.run-shm demo.run-wal
	$(BIN)/umdp learn grid --trajectories 100000 --seconds 30 --out demo.run
	$(BIN)/umdp show demo.run

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Tests start many processes: byte code is kept, also where the environment says that it is not.
test test-all: export PYTHONDONTWRITEBYTECODE =

# Kernels that most tests need are compiled while the linters run, which leave a core idle; so is the byte code of the tests.
test: $(READY)
	@$(BIN)/python tests/warm.py & warm=$$!; $(MAKE) --no-print-directory lint || { kill $$warm; exit 1; }; \
	$(BIN)/pytest -qq --collect-only >/dev/null 2>&1; wait $$warm
	$(BIN)/pytest -n auto

test-all: lint
	$(BIN)/pytest -n auto -m '' --hypothesis-profile=new

bench: $(READY)
	$(BIN)/python -m bench.everything

bench-quick: $(READY)
	$(BIN)/python -m bench.everything --quick

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache
