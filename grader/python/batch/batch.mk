# make batch: a folder or archive of submissions, graded and reported; BATCH.md.

verbs += batch

SUBMISSIONS :=
OUT :=
ROSTER :=
EXECUTOR :=
typed += SUBMISSIONS OUT ROSTER EXECUTOR

batch: lab-given program $(VENV)/course
	@test -n "$$SUBMISSIONS" && test -n "$$OUT" || { \
	    echo "Type  make batch LAB=NAME SUBMISSIONS=folder-or-zip OUT=folder" >&2; exit 2; }
	@"$(VENV)/bin/python" -m grader.python.batch grade "$$SUBMISSIONS" --lab "$$LAB" --out "$$OUT" --build "$(BUILD)" \
	    $${ROSTER:+--roster "$$ROSTER"} $(backend) $${STAGE:+--stage "$$STAGE"} $${UPTO:+--upto "$$UPTO"} $${UNSAFE:+--unsafe} \
	    $${EXECUTOR:+--executor "$$EXECUTOR"}

$(VENV)/course: grader/python/batch/requirements.txt $(VENV)/ready
	@sh grader/setup.sh course
