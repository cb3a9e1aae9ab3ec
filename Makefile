# The commands of the project. `make help` lists them.
.DEFAULT_GOAL := help
UV_VERSION := 0.13.8
UV := .tools/uv/bin/uv
PY := .venv/bin/python
export UV_SYSTEM_CERTS := 1
unexport TF_CLI_CONFIG_FILE

.venv/.ready: pyproject.toml uv.lock
	@test -x $(UV) || { python3 -m venv .tools/uv && .tools/uv/bin/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION); }
	@$(UV) sync --frozen --all-extras --all-groups --quiet
	@touch $@

.PHONY: help setup
help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: .venv/.ready ## make the environment from the lock file
