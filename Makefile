# The commands of the project; `make help` lists them. Each does all the set-up it needs.
.DEFAULT_GOAL := help
SHELL := /bin/bash
UV_VERSION := 0.13.8
OPA_VERSION := v1.22.0
TOOLS := $(CURDIR)/.tools
UV := $(TOOLS)/uv/bin/uv
PY := $(CURDIR)/.venv/bin/python
SENTINEL := $(CURDIR)/.venv/bin/sentinel
# The system's certificates, as every other tool on the machine uses them.
export UV_SYSTEM_CERTS := 1
export PATH := $(CURDIR)/.venv/bin:$(TOOLS)/bin:$(PATH)
# Extra options: make up ARGS="--port 9000 --fresh"
ARGS ?=

.PHONY: help up tour test lint unit policy tools opa bench bench-drift clean
help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

up: .venv/.ready ## run everything on this machine: gateway, reconciler, simulated AWS, example stack (ARGS=…)
	@$(SENTINEL) up $(ARGS)

tour: .venv/.ready ## play the story against a running `make up`
	@$(SENTINEL) tour $(ARGS)

test: tools lint policy unit ## set up and pass everything

lint: .venv/.ready ## types, style, who may import whom
	$(PY) -m mypy
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/lint-imports

policy: .venv/.ready opa ## opa test, check, fmt, and the shipped bundle is the one its sources build
	$(PY) -m gateway.policy.ci

unit: .venv/.ready tools opa ## all tests (PYTEST=… narrows them)
	$(PY) -m pytest $(PYTEST)

bench: .venv/.ready ## print the figures, one JSON object each
	$(PY) -m tests.bench

bench-drift: .venv/.ready ## play the drift benchmark with real Terraform (PROJECT=flat, ARGS="--only 'flat/queue-*'")
	@$(PY) -m tests.bench.drift $(PROJECT) $(ARGS)

tools:
	@for tool in git terraform; do command -v $$tool >/dev/null || { echo "$$tool is not on PATH, and the tests need it." >&2; exit 1; }; done
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || \
	  { echo 'PostgreSQL is not installed, and the tests run a server of their own (on Debian: apt install postgresql).' >&2; exit 1; }

opa: ## OPA on PATH, or the pinned version built once with Go
	@command -v opa >/dev/null || { command -v go >/dev/null || { echo 'Neither opa nor Go is on PATH. Install one of them: policies are tested with OPA.' >&2; exit 1; }; \
	  echo "Building OPA $(OPA_VERSION) once (about a minute)"; GOBIN=$(TOOLS)/bin go install github.com/open-policy-agent/opa@$(OPA_VERSION); }

clean: ## remove what the commands above made
	rm -rf .venv .tools .sentinel .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

.venv/.ready: pyproject.toml uv.lock
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'Python 3.11 or newer is needed, as python3.' >&2; exit 1; }
	@test -x $(UV) || { python3 -m venv $(TOOLS)/uv && $(TOOLS)/uv/bin/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION); }
	@$(UV) sync --frozen --all-extras --all-groups --quiet --python python3
	@touch $@
