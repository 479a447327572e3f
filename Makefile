# Every verb is one call of build/warplab or of a Python module; `make` alone shows where you stand and what to type
# next. Labs are found by wildcard: adding one changes nothing here. How the programs are built: grader/build.mk.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

BUILD := build
VENV := $(if $(filter build,$(BUILD)),.venv,$(BUILD)/venv)
# Empty unless typed, so that a cluster's own WORK or TREE variable means nothing here.
WORK :=
TREE :=
SOURCE :=
FORCE :=
UNSAFE :=
IMAGE :=
SET :=
GPU :=
NEW :=
PDF :=
JSON :=
REPORT :=
UPTO :=
UNSCORED :=
V :=

# What was typed reaches the commands through the environment, as it was typed: never expanded by make, never pasted
# into a shell line.
typed := LAB STAGE DATASET BACKEND WORK TREE SOURCE FORCE UNSAFE JSON IMAGE SET GPU NEW PDF REPORT UPTO UNSCORED

verbs := help start check bench grade sweep show device profile sanitize inspect note journal import submit clean

# The instructors' verbs; a students' kit has none of them.
include $(wildcard grader/course.mk)

$(foreach name,lab stage dataset backend work tree source force unsafe json image set gpu new pdf report,\
    $(if $(findstring command,$(origin $(name))),$(error Write $(name)= in capitals)))
# A misspelt one would be passed over in silence.
others := BUILD VENV V AUTHORS ONLY SECONDS_EACH MARCH NVCC CC CXX CPPFLAGS CXXFLAGS LDFLAGS LDLIBS SHELL PATH
$(foreach name,$(filter-out $(typed) $(others),$(.VARIABLES)),$(if $(findstring command,$(origin $(name))),\
    $(error $(name)= means nothing here. What can be given: $(typed) AUTHORS BUILD CXX V)))
# Else a verb would begin before make sees that the next word, as after the blank in LABS=one, other, is none.
strays := $(if $(filter $(verbs),$(MAKECMDGOALS)),$(filter-out $(verbs) setup% program,$(MAKECMDGOALS)))
$(if $(strays),$(error There is no verb $(firstword $(strays)). Is it part of a value? Write that without blanks, \
    as in NAME=one,other. Nothing was done. Verbs: $(verbs)))
$(foreach name,$(typed),$(eval override $(name) := $$(value $(name))))
export BUILD VENV $(typed)

labs := $(patsubst labs/%/lab.json,%,$(wildcard labs/*/lab.json))
jobs = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
build = $(MAKE) $(jobs) -f grader/build.mk
python := python3
export PYTHONDONTWRITEBYTECODE := 1

stage = $${LAB:+"$$LAB"} $${STAGE:+"$$STAGE"}
folders = $(if $(filter-out build,$(BUILD)),--build "$$BUILD") $${WORK:+--work "$$WORK"}
backend = $${BACKEND:+--backend "$$BACKEND"}
files = $${TREE:+--tree "$$TREE"} $${SOURCE:+--source "$$SOURCE"}
options = $(backend) $${DATASET:+--dataset "$$DATASET"} $(files) \
    $${FORCE:+--force} $${UNSAFE:+--unsafe} $${JSON:+--json "$$JSON"} $(folders)
warplab = "$(BUILD)/warplab"

.PHONY: $(verbs) setup program lab-given

help:
	@sh grader/help.sh

start check bench profile sanitize: lab-given program
	@$(warplab) $@ $(stage) $(options)

# The page needs Python, what stands in the terminal does not.
inspect: lab-given program
	@$(warplab) inspect $(stage) $(options) $${GPU:+--gpu "$$GPU"}; inspected=$$?; [ $$inspected -gt 1 ] || { \
	    sh grader/setup.sh python "the HTML page" && $(python) -m grader.python.journal.inspection "$(BUILD)/inspect"; }; \
	    exit $$inspected

sweep: lab-given program
	@$(warplab) $@ $(stage) $(options); swept=$$?; [ $$swept -gt 1 ] || { sh grader/setup.sh python "the plot" && \
	    $(python) -m grader.python.journal.sweep --plot-only "$${JSON:-$$BUILD/sweep}"; }; exit $$swept

# The judge saves pictures and data in $(BUILD)/show/$$LAB; a lab's show.py, where there is one, draws more from them.
show: lab-given program
	@$(warplab) show $(stage) $(backend) $(files) $(folders) $${IMAGE:+--image "$$IMAGE"} $${SET:+--set $$SET}; \
	    shown=$$?; \
	    folder="$(BUILD)/show/$$LAB" draw="labs/$$LAB/show.py"; \
	    [ $$shown -gt 1 ] || ! [ -f "$$draw" ] || [ -z "$$(ls -A "$$folder")" ] || \
	    { $(MAKE) -s $(VENV)/ready && "$(VENV)/bin/python" "$$draw" "$$folder"; } || exit 2; exit $$shown

grade: program
	@$(warplab) $@ $(stage) $(options) $${UPTO:+--upto "$$UPTO"} $${UNSCORED:+--unscored}

device: program
	@$(warplab) $@ $(stage) $(options)

import: program
	@test -n "$$REPORT" || { echo "Which report? Type  make import REPORT=FILE,  a report.json from a GPU." >&2; exit 2; }
	@$(warplab) import --report "$$REPORT" $(folders)

# With a Python older than 3.11 these say so and leave; all other verbs do with 3.9.
note: lab-given
	@sh grader/setup.sh python "make note" && $(python) -m grader.python.journal.notes "$$LAB" "$$STAGE" \
	    $${NEW:+--new} $${WORK:+--work "$$WORK"}

journal: lab-given
	@sh grader/setup.sh python "make journal" && \
	    $(python) -m grader.python.journal.journal "$$LAB" $${PDF:+--pdf} $(folders)

submit: lab-given
	@sh grader/setup.sh python "make submit" && $(python) -m grader.python.journal.submit "$$LAB" $(folders)

setup: setup-test $(VENV)/ready

setup-%:
	@sh grader/setup.sh $*

program: setup-build
	@$(build) program

$(VENV)/ready: grader/requirements.txt
	@sh grader/setup.sh venv

lab-given:
	@test -n "$$LAB" || { \
	    echo "Which lab? Type  make $(firstword $(MAKECMDGOALS)) LAB=NAME,  with NAME one of: $(labs)" >&2; exit 2; }

clean:
	rm -rf "$(BUILD)"

# What no rule makes: a verb mistyped.
nearest := import difflib, sys; \
    print(*(f' Did you mean {verb}?' for verb in difflib.get_close_matches(sys.argv[1], sys.argv[2:], 1)))
where := $(if $(wildcard grader/course.mk),, in this students' kit)
.DEFAULT:
	@echo "There is no verb" '$(subst ','\'',$@)'"$(where).$$($(python) -c "$(nearest)" '$(subst ','\'',$@)' $(verbs) \
	    2>/dev/null) Verbs: $(verbs). Type  make  for what they do." >&2; exit 2
