# Thin: each target names a module that does the work. `make help` lists them.

PYTHON ?= python3
VENV := .venv/bin/python

# Threads that wait give up their core soon: on a busy machine they would keep it from the one that
# they wait for, and small models run many times slower. Without any spinning a quiet one is slower.
# `python -m transformer` sets the same (transformer/__init__.py).
export GOMP_SPINCOUNT ?= 10000

# What Python has compiled is kept, whatever the machine says: each process would compile the same
# modules anew, and pip all of them before.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup book check test prove lab notebooks slides pdf bench clean

help: ## say what each target does
	@echo "The Transformer book. Two commands: make book, make test."
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "Another Python: make book PYTHON=python3.12. Only a few steps of each training: TRANSFORMER_SCALE=smoke make book."

setup: setup-test ## install all exact versions of requirements.txt in .venv (the others install what they need)

# What stands under a heading of requirements.txt, and what building the book needs.
setup-%:
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON) here. Install Python 3.11 or newer: apt-get install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) -m tools.environment $*

book: setup-build ## execute every chapter, build the site, say where to open it
	@$(VENV) -m tools.site.book

check: setup-test ## prove style, types and the quick tests: a few minutes, before each commit
	@$(VENV) -m tools.check check

test: setup-test ## prove what a change may break: every chapter, page and widget once; about 15 minutes
	@$(VENV) -m tools.check test

prove: setup-test ## prove everything, as every night does; parts of it: make prove ONLY="slow widgets"; UNDER_LOAD=1
	@$(VENV) -m tools.check prove --only "$(ONLY)" $(if $(UNDER_LOAD),--under-load)

lab: setup-lab ## open the chapters in JupyterLab, on port 8888, where the pages' buttons lead
	@$(VENV) -m jupyterlab book --ServerApp.port=8888

notebooks: book ## the chapters as .ipynb files, in _build/html/notebooks (made with the book)

slides: setup-slides book ## a deck for each chapter that has slides, in _build/slides: open its index.html
	@$(VENV) -m tools.site.formats.slides

pdf: setup-pdf book ## the whole book on paper, in _build/book.pdf, printed by Chromium
	@$(VENV) -m tools.site.formats.pdf

bench: setup-bench ## measure the module against its peers, side by side
	@CHROMIUM="$$($(VENV) -m tools.browser)" $(VENV) -m measurements all

clean: ## remove what was built (.venv stays: rm -r .venv)
	@rm -rf _build .pytest_cache .mypy_cache .ruff_cache .hypothesis
