# The instructors' verbs: included by the Makefile, and not part of a students' kit.

verbs += demo test new-lab starters docs example-journal results counters peers soak bench-backend kit export \
    gradescope autolab

LABS :=
FORMAT :=
OUTPUT :=
typed += LABS FORMAT OUTPUT
include $(wildcard grader/python/batch/batch.mk)

demo: setup-demo program
	@$(warplab) grade --tree solutions --no-check-mode --no-nvcc --report-dir "$(BUILD)/report" $(backend) $(folders); \
	    graded=$$?; sh grader/setup.sh python "the HTML page" && $(python) -m grader.python.batch.outputs.report_page "$(BUILD)/report"; \
	    exit $$graded

test: setup-test
	@$(MAKE) $(jobs) test-program $(VENV)/ready $(VENV)/course
	@$(python) tests/run.py

.PHONY: test-program
test-program:
	+@$(build) program tests

new-lab:
	@test -n "$$LAB" || { echo "What is it to be called? Type  make new-lab LAB=NAME,  as in LAB=my_lab" >&2; exit 2; }
	@sh grader/setup.sh python "make new-lab" && $(python) -m grader.python.release.new_lab "$$LAB"

starters:
	@sh grader/setup.sh python "make starters" && $(python) -m grader.python.release.starters

docs: program
	@sh grader/setup.sh python "make docs" && $(python) -m grader.python.docs.tables --build "$(BUILD)" && \
	    for draw in handouts/pictures/*.py; do $(python) -B "$$draw" || exit 2; done

# What build/report and build/sweep measured on a GPU (and build/peers.json of libraries) becomes
# handouts/results/<gpu>.json.
results:
	@sh grader/setup.sh python "make results" && $(python) -m grader.python.docs.results \
	    $(if $(wildcard $(BUILD)/report/*.json),"$(BUILD)"/report/*.json) \
	    $(if $(wildcard $(BUILD)/sweep/*.json),--sweeps "$(BUILD)"/sweep/*.json) \
	    $(if $(wildcard $(BUILD)/peers.json),--peers "$(BUILD)/peers.json")

# handouts/example-journal from the records and notes in it.
example-journal:
	@sh grader/setup.sh python "make example-journal" && \
	    $(python) -m grader.python.journal.journal --folder handouts/example-journal --beside-source

# What check mode counts of every solution becomes handouts/counters.json; needs no GPU.
counters: program
	@sh grader/setup.sh python "make counters" && $(python) -m grader.python.docs.counters $${LAB:+"$$LAB"} --build "$(BUILD)"

peers: program
	@$(warplab) peers $(stage) --json "$(BUILD)/peers.json" $(folders)

# Tests that take too long for make test; SECONDS_EACH=600 runs each part for ten minutes, FUZZ_SCALE=10 fuzzes with
# ten times as many inputs.
soak: program $(VENV)/course
	@sh grader/setup.sh soak || echo "Continuing without the missing tools." >&2
	@"$(VENV)/bin/python" tests/soak.py

bench-backend: program
	@$(MAKE) $(jobs) -f grader/cpu/bench/bench.mk

# The students' archive; LABS=one,other:2 (or LAB=one) and UPTO=3 leave the rest out.
kit:
	@sh grader/setup.sh python "make kit" && $(python) -m grader.python.release.kit --labs "$${LABS:-$$LAB}" --upto "$$UPTO"

# REPORT as gradescope, autolab, github, prairielearn, canvas or moodle reads it; more: python3 -m grader.python.batch.outputs.export -h
export:
	@test -n "$$REPORT" && test -n "$$FORMAT" || { \
	    echo "Type  make export REPORT=build/report/LAB.json FORMAT=gradescope [OUTPUT=FILE]" >&2; exit 2; }
	@sh grader/setup.sh python "make export" && $(python) -m grader.python.batch.outputs.export "$$REPORT" --format "$$FORMAT" \
	    $${OUTPUT:+--output "$$OUTPUT"}

# The grader and a lab for a course system; UNSAFE=1: for one without a sandbox, and without hidden datasets.
gradescope: lab-given
	@sh grader/setup.sh python "make $@" && \
	    $(python) -m grader.python.release.services $@ "$$LAB" $${UPTO:+--upto "$$UPTO"} $${UNSAFE:+--unsafe}

autolab: lab-given program
	@sh grader/setup.sh python "make $@" && \
	    $(python) -m grader.python.release.services $@ "$$LAB" $${UPTO:+--upto "$$UPTO"} $${UNSAFE:+--unsafe} --build "$(BUILD)"
