# `make help` lists what there is.

VENV ?= .venv
PORT ?= 8000
ONCE ?=
# More arguments for pytest: make test ARGS="tests/lib -x"
ARGS ?=

BIN := $(VENV)/bin
PY := $(BIN)/python
SERVICES := $(PY) scripts/test_services.py run --

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup demo test test-long lint format lock messages env-example picture clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do \
		printf '  make %-12s %s\n' "$$name" "$$text"; done

setup: $(VENV)/run.stamp $(VENV)/test.stamp ## Make .venv from the hashed requirement files

demo: $(VENV)/run.stamp ## Set up and show the whole way to a board row (ONCE=1 ends after it, PORT=8000)
	@$(PY) manage.py demo --port $(PORT) $(if $(filter-out 0,$(ONCE)),--once)

test: $(VENV)/test.stamp ## Run every kind of test once, on PostgreSQL, Redis and Chromium of its own
	@$(SERVICES) $(PY) -m pytest $(ARGS)

test-long: $(VENV)/test.stamp ## Run the tests that take hours as well
	@$(SERVICES) $(PY) -m pytest -m "long or not long" $(ARGS)

lint: $(VENV)/test.stamp ## Check style, types, import rules, templates, migrations and the production settings
	@VENV=$(VENV) sh scripts/lint.sh

format: $(VENV)/test.stamp ## Put code and templates into the house style
	@$(PY) -m ruff check --fix . ; $(PY) -m ruff format .
	@find templates -name '*.html' -exec $(BIN)/djade --target-version 5.2 {} +

lock: $(VENV)/test.stamp ## Compile the requirement files from pyproject.toml (UPGRADE=1 for newer versions)
	@PY=$(PY) sh scripts/lock.sh $(if $(UPGRADE),--upgrade)

messages: $(VENV)/test.stamp ## Collect and compile the texts for translation (needs gettext)
	@command -v msgfmt >/dev/null || { echo "Install gettext: apt-get install gettext" >&2; exit 2; }
	@$(PY) manage.py makemessages --locale zh_Hans --no-obsolete --ignore '.venv*' --ignore var
	@$(PY) manage.py compilemessages --locale zh_Hans

env-example: $(VENV)/run.stamp ## Write .env.example from the declarations in aml/settings.py
	@$(PY) scripts/env_example.py > .env.example.new && mv .env.example.new .env.example

picture: $(VENV)/test.stamp ## Make docs/board.png from the demo
	@$(PY) scripts/picture.py docs/board.png

clean: ## Remove the virtual environment and the demo's data
	rm -rf $(VENV) var staticfiles

# The stamp is newer than its file after an installation that went through, so a second run does nothing.
# run.stamp must not undo test.stamp's work: both files pin the same versions (tests/test_packaging.py).
$(VENV)/%.stamp: requirements/%.txt scripts/setup.sh
	@sh scripts/setup.sh $(VENV) $<
	@touch $@
