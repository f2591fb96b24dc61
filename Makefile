# Goals for users: `make sweep` and `make test`. Both set up everything they need in .venv; nothing else is touched.
SHELL := /bin/bash
VENV := .venv
CORES ?= 1..all
PORTABLE_PYTHON ?= python3
SOURCES := pyproject.toml CMakeLists.txt tools/setup $(shell find runner loadgen playbooks dashboards images sweeps results/reference -name '*.py' -o -name '*.yml' -o -name '*.c' -o -name '*.h' -o -name 'CMakeLists.txt' -o -name '*.json' -o -name '*.yaml' -o -name '*.ini' -o -name '*.toml' -o -name '*.csv' | grep -v __pycache__)

.PHONY: help sweep test test-all setup check dist docs fix fuzz sanitize clean

help:  ## Show the goals
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

sweep: setup  ## Set up, then sweep CPU cores on the best target this machine offers
	@echo "scale sweep cpu --quick --cores $(CORES) --data-dir auto $(ARGS)"
	@$(VENV)/bin/scale sweep cpu --quick --cores $(CORES) --data-dir auto $(ARGS) || { code=$$?; [ $$code -ne 10 ] || \
		echo "The sweep ended and wrote its report. None of its trials is VALID, or one failed: the lines above say why (code 10)."; \
		exit $$code; }

test: $(VENV)/.ready-test  ## Set up, then run the tests of the code: unit and load generator, under 5 minutes
	$(VENV)/bin/python tools/run_tests.py $(ARGS)

test-all: $(VENV)/.ready-test-all  ## Set up, then run all tests, as continuous integration does; about 30 minutes
	$(VENV)/bin/python tools/run_tests.py --all

setup: $(VENV)/.ready  ## Build the load generator and install `scale` into .venv (360 MB)

# One installation serves all: who checks can test, and who tests can sweep.
$(VENV)/.ready: $(SOURCES)
	tools/setup $(PORTABLE_PYTHON) $(VENV) .
	@touch $@

$(VENV)/.ready-test: $(SOURCES)
	tools/setup $(PORTABLE_PYTHON) $(VENV) '.[test]'
	@touch $(VENV)/.ready $@

$(VENV)/.ready-test-all: $(SOURCES)
	tools/setup $(PORTABLE_PYTHON) $(VENV) '.[test-all]'
	@touch $(VENV)/.ready $(VENV)/.ready-test $@

$(VENV)/.ready-check: $(SOURCES)
	tools/setup $(PORTABLE_PYTHON) $(VENV) '.[check,test-all]'
	@touch $(VENV)/.ready $(VENV)/.ready-test $(VENV)/.ready-test-all $@

$(VENV)/.ready-docs: $(SOURCES)
	tools/setup $(PORTABLE_PYTHON) $(VENV) '.[docs]'
	@touch $(VENV)/.ready $@

# For continuous integration, which needs all three: one installation builds the project once.
$(VENV)/.ready-ci: $(SOURCES)
	tools/setup $(PORTABLE_PYTHON) $(VENV) '.[check,docs,test-all]'
	@touch $(addprefix $(VENV)/.ready,'' -check -docs -test -test-all) $@

$(VENV)/.ready-dist: $(SOURCES)
	tools/setup $(PORTABLE_PYTHON) $(VENV) '.[dist]'
	@touch $(VENV)/.ready $@

dist: $(VENV)/.ready-dist  ## The source distribution and the wheel in dist/ (tools/dist.py)
	$(VENV)/bin/python tools/dist.py $(ARGS)

docs: $(VENV)/.ready-docs  ## The docs as a site in build/site; a broken link is an error
	$(VENV)/bin/zensical build --clean --strict

check: $(VENV)/.ready-check  ## Style, types, C warnings, clang-tidy, structure, documents (tools/check.py)
	$(VENV)/bin/python tools/check.py

fix: $(VENV)/.ready-check  ## Mend what style checks can mend by themselves
	$(VENV)/bin/python tools/check.py --fix

fuzz:  ## Fuzz what the load generator reads: ARGS="DRIVER SECONDS"; needs clang with libFuzzer
	$(PORTABLE_PYTHON) tools/fuzz.py $(ARGS)

sanitize: $(VENV)/.ready-check  ## The load generator's tests under ASan, UBSan and TSan
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" loadgen/sanitize.sh $(VENV)/bin/python $(ARGS)

clean:  ## Remove what setup made
	rm -rf $(VENV) build dist
