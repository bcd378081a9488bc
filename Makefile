# A fresh machine needs python3 (3.11 or newer) and make; `make demo` and `make test` do the rest.
# Paths are relative throughout, so that the project may live in a folder with spaces in its name.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test browser sandbox test-versions check lint coverage docs wheel release hooks bench payloads score detect goals numbers coverage-of-intervals model-runs test-llm conform kill-test mutants format schemas constraints clean

PYTHON ?= python3
UV ?= $(shell command -v uv 2>/dev/null)
# Workers of the test run: two for each processor, because a test waits for its kernel half of the time, but not more
# than kernels and SQLite files stay quick with.
WORKERS ?= $(shell expr 2 '*' "$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)")
TESTS ?=
TABLES ?= penguins titanic
SEED ?= 1
SAMPLE ?= 100
TABLES_EACH ?= 6

# The environment that is made and used.
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python -m
DEMO := build/demo

# What is set here for other programs must not change what happens: it should be as on a fresh machine.
unexport PYTHONPATH PYTHONHOME PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE VIRTUAL_ENV PIP_USER PIP_TARGET

help: ## print this list
	@echo 'Notebook-BCC. A fresh machine needs only `make demo` and `make test`.'
	@echo
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name text; do \
		printf '  make %-22s %s\n' "$$name" "$$text"; done

demo: $(VENV)/.demo-ready ## analyse a bundled table: an executed notebook, a report, a model
	@mkdir -p $(DEMO)
	@$(BIN)/nbcc run src/notebook_bcc/playbooks/demo/bike_hours.csv --target rentals --confirm auto --name demo \
		--runs $(DEMO)/runs --out $(DEMO)/result/ --overwrite
	@echo
	@echo 'report:   $(DEMO)/result/report.html'
	@echo 'notebook: $(DEMO)/result/notebook.ipynb'

test: $(VENV)/.dev-ready ## run the tests, on all processors, without a network (one file: make test TESTS=tests/fsm)
	@$(RUN) pytest -n $(WORKERS) --maxprocesses 6 --dist worksteal $(TESTS)

browser: $(VENV)/.dev-ready ## install Chromium by apt-get where allowed, then run the tests in a real browser
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
		{ [ "$$(id -u)" = 0 ] && apt-get install -y --no-install-recommends chromium; } || \
		{ echo 'NOT TESTED: there is no Chromium, and apt-get may not install one here. Install chromium, then try again.' >&2; exit 1; }
	$(RUN) pytest tests/server/test_browser.py tests/web

sandbox: $(VENV)/.dev-ready ## install bubblewrap by apt-get where allowed, then try every way out of each sandbox that works here
	@command -v bwrap >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get install -y --no-install-recommends bubblewrap; } || \
		{ echo 'NOT TESTED: there is no bubblewrap, and apt-get may not install it here. Install bubblewrap, then try again.' >&2; exit 1; }
	$(RUN) pytest tests/sandbox tests/cli/test_sandbox.py

test-versions: ## run the tests on every Python from 3.11 on that is here, each in its own environment under build/
	@TESTS='$(TESTS)' .ci/versions

check: lint test ## everything that must be green: lint, then the tests (the architecture's among them)

lint: $(VENV)/.dev-ready ## formatting, lint and types
	$(RUN) ruff format --check
	$(RUN) ruff check
	$(RUN) mypy

coverage: $(VENV)/.dev-ready ## run the tests and show what they cover: total, least covered modules, pages in build/coverage/html
	@rm -rf build/coverage && mkdir -p build/coverage
	@$(RUN) pytest -n $(WORKERS) --maxprocesses 6 --dist worksteal --cov --cov-report= $(TESTS); status=$$?; \
	$(RUN) coverage html --quiet && $(RUN) coverage report --sort=cover >build/coverage/report.txt || exit 1; \
	echo && echo 'The least covered modules:' && head -n 22 build/coverage/report.txt && \
	tail -n 1 build/coverage/report.txt && echo 'pages: build/coverage/html/index.html' && exit $$status

docs: $(VENV)/.docs-ready ## build the documentation site into build/site, strictly and offline
	@NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --strict --clean --quiet
	@$(BIN)/python .ci/check_site.py build/site

wheel: $(VENV)/.dev-ready ## build wheel and sdist into dist/ and check them
	@rm -rf dist && $(RUN) hatchling build >/dev/null 2>&1 || $(RUN) hatchling build
	@$(BIN)/python .ci/check_release.py dist

release: wheel ## what can be published: the same, and a table run through the wheel in an empty environment elsewhere
	@$(BIN)/python .ci/check_release.py dist --install

hooks: $(VENV)/.dev-ready ## run ruff before each commit and mypy before each push, with this environment's own
	$(RUN) pre_commit install

bench: $(VENV)/.bench-ready ## measure beside nbclient, papermill, langgraph and transitions (some minutes)
	$(RUN) benchmarks

payloads: $(VENV)/.dev-ready ## run House Prices from NBCC_DATA through the service and tell the size of its requests by part (4 minutes)
	@$(RUN) benchmarks.exchange

score: $(VENV)/.demo-ready ## run the playbook on the public tables in NBCC_DATA and score its predictions (an hour)
	$(RUN) benchmarks.scores --out docs/scores.md

detect: $(VENV)/.demo-ready ## run 128 generated tables with known truth as far as the integrity stage: traps found, false alarms (SEED=7; 20 minutes)
	$(RUN) benchmarks.detect --seed $(SEED) --held-back with --out docs/detection.md

goals: $(VENV)/.demo-ready ## ask 45 goals in words, English and Chinese, of generated tables with known truth (SEED=7; an hour)
	$(RUN) benchmarks.goals --seed $(SEED) --out docs/goals.md

numbers: $(VENV)/.demo-ready ## run 20 tables, generated and of NBCC_DATA, and find the variable of every number that they tell (SEED=7; half an hour)
	$(RUN) benchmarks.numbers --seed $(SEED)

coverage-of-intervals: $(VENV)/.demo-ready ## how often the 95 % interval holds the true score, on generated tables (hours; TABLES_EACH=2 is quicker)
	OMP_WAIT_POLICY=PASSIVE $(RUN) benchmarks.coverage --tables $(TABLES_EACH) --out docs/intervals.md

model-runs: $(VENV)/.dev-ready ## run the model NBCC_MODEL on tables in NBCC_DATA, 10 times each (TABLES="penguins titanic"; hours)
	@test -n "$$NBCC_MODEL" || { echo 'make model-runs needs NBCC_MODEL, such as http://127.0.0.1:PORT/v1#NAME.' >&2; exit 1; }
	$(RUN) benchmarks.model_runs $(TABLES) --model "$$NBCC_MODEL" --out build/model-runs.md

test-llm: $(VENV)/.dev-ready ## the tests that ask a real model; NBCC_LOCAL_LLM is where one is served (http://127.0.0.1:PORT)
	@test -n "$$NBCC_LOCAL_LLM" || { echo 'make test-llm needs NBCC_LOCAL_LLM, the address of a served model.' >&2; exit 1; }
	$(RUN) pytest -m local_llm --timeout 900 -o faulthandler_timeout=1000 $(TESTS)

conform: $(VENV)/.dev-ready ## the conformance kit against our script, playbook and model servers and the literal planner of 002
	$(BIN)/python tests/conform.py

kill-test: $(VENV)/.dev-ready ## the long campaigns: 100 kill -9 and resumes, 2,000 random stops, the biggest outputs (some minutes)
	$(RUN) pytest -m slow --timeout 1800 -o faulthandler_timeout=2000 $(TESTS)

mutants: $(VENV)/.dev-ready ## change the code in random places and count what the quick tests notice (SEED=7 SAMPLE=100; up to 45 minutes)
	$(BIN)/python tests/mutants.py --seed $(SEED) --sample $(SAMPLE)

format: $(VENV)/.dev-ready ## put the sources into their one form
	$(RUN) ruff format
	$(RUN) ruff check --fix

schemas: $(VENV)/.dev-ready ## write docs/ anew from the models and the transition table
	$(BIN)/python docs/build_schemas.py
	$(BIN)/python docs/build_state_machine.py

constraints: pyproject.toml ## resolve every pin of constraints.txt anew (needs uv)
	@test -n '$(UV)' || { echo 'make constraints needs uv on the PATH.' >&2; exit 1; }
	printf 'hatchling\n' | '$(UV)' pip compile --quiet --upgrade --universal --python-version 3.11 --all-extras \
		--no-header --no-annotate pyproject.toml - --output-file constraints.txt
	@! grep -nE '://|--|@ ' constraints.txt || { echo 'constraints.txt must name packages and versions only.' >&2; exit 1; }

clean: ## remove everything that can be made again; runs of your own stay
	rm -rf .venv build dist .coverage htmlcov .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment. A stamp is written when an installation is complete, so the second call has nothing to do. What is
# installed follows pyproject.toml and constraints.txt; the project itself is installed editable and follows its sources.

$(VENV)/.demo-ready: $(VENV)/.made pyproject.toml constraints.txt
	$(call install,ml)
	@touch $@

$(VENV)/.dev-ready: $(VENV)/.made pyproject.toml constraints.txt
	$(call install,ml$(comma)dev$(comma)llm)
	@touch $(VENV)/.demo-ready $@

$(VENV)/.docs-ready: $(VENV)/.made pyproject.toml constraints.txt
	$(call install,docs)
	@touch $@

$(VENV)/.bench-ready: $(VENV)/.made pyproject.toml constraints.txt
	$(call install,ml$(comma)dev$(comma)llm$(comma)bench)
	@touch $(VENV)/.demo-ready $(VENV)/.dev-ready $@

comma := ,

# The build of our own package obeys the constraints too; each installer has its own names for that. An environment that
# uv made has no pip of its own.
define install
	@echo 'Installing into $(VENV): core, $(1) (the first time a minute or two)' && \
	if [ -n '$(UV)' ]; then \
		'$(UV)' pip install --quiet --python $(BIN)/python --build-constraints constraints.txt \
			--constraint constraints.txt --editable '.[$(1)]'; \
	else \
		{ $(RUN) pip --version >/dev/null 2>&1 || $(RUN) ensurepip >/dev/null; } && \
		PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt $(RUN) pip install --quiet \
			--disable-pip-version-check --no-input --constraint constraints.txt --editable '.[$(1)]'; \
	fi
endef

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))

# An environment that works is kept. Any python on the PATH will do if python3 itself is too old.
$(VENV)/.made:
	@if $(BIN)/python -c '$(NEW_ENOUGH)' 2>/dev/null; then :; else \
		for python in '$(PYTHON)' python3.13 python3.12 python3.11 ''; do \
			if [ -n "$$python" ] && "$$python" -c '$(NEW_ENOUGH)' 2>/dev/null; then break; fi; \
		done; \
		if [ -n '$(UV)' ]; then \
			rm -rf $(VENV) && '$(UV)' venv --quiet --python "$${python:->=3.11}" $(VENV) || exit 1; \
		elif [ -z "$$python" ]; then \
			echo 'Notebook-BCC needs Python 3.11 or newer; $(PYTHON) is' "$$($(PYTHON) --version 2>&1 || true)." >&2; \
			echo 'Install one and name it: make PYTHON=/path/to/python3.12 demo. With uv on the PATH it is fetched for you.' >&2; \
			exit 1; \
		elif ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
			echo "$$python cannot make virtual environments: its venv module is missing." >&2; \
			echo 'On Debian and Ubuntu: apt-get install python3-venv. Or put uv on the PATH.' >&2; \
			exit 1; \
		else \
			echo "Making the virtual environment $(VENV) with $$python" && "$$python" -m venv --clear $(VENV) || exit 1; \
		fi; \
	fi
	@touch $@
