# Two goals for users: `make sweep` and `make test`. Both set up everything they need in .venv; nothing else is touched.
SHELL := /bin/bash
VENV := .venv
CORES ?= 1..$(shell nproc)
PORTABLE_PYTHON ?= python3
# In memory, so that the curve is one of CPU cores and not of a disk; on a disk where there are less than 4 GB for each CPU.
DATA ?= $(shell awk -v cpus=$$(nproc) '/^MemAvailable:/ && $$2 >= 4000000 * cpus {print "--data-dir ram"}' /proc/meminfo)

.PHONY: help sweep test setup check sanitize clean

help:  ## Show the goals
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

sweep: setup  ## Set up, then sweep CPU cores on the best target this machine offers
	$(VENV)/bin/scale sweep cpu --cores $(CORES) $(DATA) $(ARGS)

test: setup-test  ## Set up, then run all tests
	$(VENV)/bin/python tools/run_tests.py $(ARGS)

setup: $(VENV)/.ready  ## Build the load core and install `scale` into .venv

$(VENV)/.ready: pyproject.toml CMakeLists.txt tools/setup $(shell find runner loadgen playbooks dashboards images -name '*.py' -o -name '*.yml' -o -name '*.c' -o -name '*.h' -o -name 'CMakeLists.txt' -o -name '*.json' -o -name '*.yaml' -o -name '*.ini' -o -name '*.toml' | grep -v __pycache__)
	tools/setup $(PORTABLE_PYTHON) $(VENV) .
	@touch $@

.PHONY: setup-test
setup-test: setup
	tools/setup $(PORTABLE_PYTHON) $(VENV) '.[test]'

check:  ## Style, types and structure
	$(VENV)/bin/python -m pytest tests/unit/test_structure.py

sanitize:  ## The load core's tests under ASan, UBSan and TSan
	loadgen/sanitize.sh $(VENV)/bin/python

clean:  ## Remove what setup made
	rm -rf $(VENV) build
