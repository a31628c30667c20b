# `make demo` and `make test` work on a fresh machine that has Python 3.11 or newer and nothing else.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: help install demo test lint types unit bench docs clean

help:            ## what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## */\t/' | expand -t 12

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "superfed needs Python 3.11 or newer; say which with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.user: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing superfed into $(VENV) (some minutes the first time)"
	@$(PIP) install -q -c constraints.txt -e '.[digits]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing superfed and its test tools into $(VENV) (some minutes the first time)"
	@$(PIP) install -q -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/.user

install: $(VENV)/.dev ## everything, without running anything

demo: $(VENV)/.user   ## the main job, from nothing to a table and a page
	@$(BIN)/superfed run demo

test: lint types unit ## lint, types, tests

lint: $(VENV)/.dev    ## ruff
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(VENV)/.dev   ## mypy, strict
	@$(BIN)/mypy

unit: $(VENV)/.dev    ## pytest, one process per core
	@$(BIN)/pytest -q -n auto

bench: $(VENV)/.user   ## measurements; they take minutes
	@$(BIN)/python benchmarks/clients.py

docs: $(VENV)/.dev    ## the documentation as a site, in site/
	@$(BIN)/python -m superfed.reference docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

clean:           ## remove the environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
