# make demo   convert the fixtures there and back
# make test   set up and run the tests
# make roundtrip   all good files to every other format and back
# make bench  the benchmarks, each a ratio
# make lint   style and types

PYTHON ?= python3
RIGCONV_SHARED ?= ../shared
SAMPLES := $(RIGCONV_SHARED)/samples
VENV := .venv
BIN := $(VENV)/bin
TYPED := build/typed
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
READY := $(VENV)/.ready
ORACLE := tests/oracle/node_modules/.ready

.PHONY: demo test roundtrip lint format bench clean

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --editable '.[dev]'
	touch $@

$(ORACLE): tests/oracle/package.json tests/oracle/package-lock.json
	cd tests/oracle && npm ci --silent --no-audit --no-fund
	touch $@

demo: $(READY)
	$(BIN)/python fixtures/demo.py

test: $(READY) $(ORACLE)
	$(BIN)/python -m pytest -n auto --ignore tests/benchmarks

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	rm -rf build
	$(PIP) install --no-deps --target $(TYPED) .
	MYPYPATH=$(TYPED) $(BIN)/mypy --package rigconv

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Good files of all formats to every other format and back.
roundtrip: $(READY)
	$(BIN)/rigconv roundtrip fixtures $(wildcard $(SAMPLES)/*/good $(SAMPLES)/rigc/*.rig.json)

bench: $(READY)
	$(BIN)/python -m pytest tests/benchmarks --benchmark-only --benchmark-group-by=group

clean:
	rm -rf $(VENV) build *.egg-info tests/oracle/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis
