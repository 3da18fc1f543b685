# Everything starts here and needs no more than make and Python 3.11 or 3.12.
# The environment lives in .venv; every target that needs it brings it up to date first.

# What failed beside other tests is tried once more alone.
PYTEST = .venv/bin/python -m tests.again

# Hundreds of processes start in a test run; each would compile all it imports again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install develop run test test-long test-levels test-kubernetes check generate facts lock clean
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 26
	@echo "PYTHON=/path/to/python3.11 chooses the interpreter."

install: ## make .venv with pdc in it
	@tools/environment.sh core

develop: ## the same, with what the tests and checks need
	@tools/environment.sh dev

run: install ## run the whole walk, from data to a served model; MODE=ps with parameter servers, KEEP=1 leaves the cluster up
	@.venv/bin/pdc demo $(if $(MODE),--mode $(MODE)) $(if $(KEEP),--keep)

test: develop ## run the tests
	@$(PYTEST) -m "not long" --numprocesses=auto --maxprocesses=4 --dist=loadfile --no-loadscope-reorder

test-long: develop ## run what takes half a minute or more: trainings, walks, guides, caches that lie
	@$(PYTEST) -m long --numprocesses=2 --dist=loadfile --no-loadscope-reorder tests/scenarios tests/properties tests/suites

test-levels: develop ## run what depends on rights as an ordinary user and confined; ALL=1: all of make test, LEVEL=user: one level, TESTS=tests/cache: a part
	@.venv/bin/python -m tests.levels $(LEVEL) $(if $(ALL),--all) $(TESTS)

test-kubernetes: develop ## run the contracts against a real Kubernetes 1.33, node included (needs Go; builds it once); FULL=1: all clients
	@tools/test-kubernetes.sh

check: develop ## lint, types, import layers, generated files
	.venv/bin/ruff check .
	.venv/bin/mypy src tests tools
	.venv/bin/lint-imports
	.venv/bin/python tools/generate_crds.py --check
	.venv/bin/python tools/generate_operator.py --check

generate: develop ## write deploy/ from src/paddlecloud
	@.venv/bin/python tools/generate_crds.py
	@.venv/bin/python tools/generate_operator.py

facts: develop ## write the facts about built-in kinds anew from the pinned Kubernetes (needs Go)
	@.venv/bin/python tools/kubernetes_facts.py

lock: develop ## write all lock files anew, with the newest fitting versions
	@tools/lock.sh

clean: ## remove the environment and all caches in the tree
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
