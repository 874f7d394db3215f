# Entry points of the workspace. Each target installs what it needs and calls a script that can also be run directly.

.PHONY: help lab test check prove fuzz differential

help: ## list the targets (this is what `make` alone does)
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

lab: ## measure purlin and every other runtime found here; ARGS="-e ping-pong" goes to `purlin lab run`; FLAGS=both ALLOCATOR=both
	@FLAGS=$(FLAGS) ALLOCATOR=$(ALLOCATOR) scripts/lab.sh $(ARGS)

test: ## every check and every test: format, lints, docs, house rules, unit, integration and doc tests
	@scripts/test.sh

check: ## the quick half of `make test`: format, house rules, lints, docs
	@scripts/check.sh

prove: ## loom, shuttle, differential tests, kills, faults of the log, sanitizers, fuzzing; ALL=1 runs unchanged ones too
	@ALL=$(ALL) scripts/prove.sh

fuzz: ## every fuzz target, SECONDS=20 each
	@scripts/fuzz.sh $(SECONDS)

differential: ## random programs on the BEAM and on purlin; PROGRAMS=3000 or SECONDS=60, SEED of the first, SPREAD=1 over both
	@scripts/differential.sh $(if $(SPREAD),--spread) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(PROGRAMS),--programs $(PROGRAMS)) $(if $(SEED),--seed $(SEED))
