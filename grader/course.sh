# The instructors' verbs: a part of ./warplab that students' kits do not contain.

verbs="$verbs demo test new-lab starters docs example-journal results counters peers soak bench-backend bench-grading \
calibrate kit bug-key slides export gradescope autolab batch course"
names="$names LABS STAGES EXERCISES FORMAT OUTPUT SUBMISSIONS OUT ROSTER EXECUTOR"
paths="$paths OUTPUT SUBMISSIONS OUT MOODLE"

# `./warplab course VERB …` runs grader/warplab-course in the caller's folder.
if [ "$1" = course ]; then
    shift
    cd -- "$here" && exec "$root/grader/warplab-course" "$@"
fi

help_instructors() {
    cat <<'END'
For instructors; more in grader/python/release/RELEASES.md and, for developers, CONTRIBUTING.md:
  make demo                          build, then grade every reference solution to show that everything works
  make kit [LABS=…] [UPTO=stage]     the students' archive, without solutions; LABS=a,b:2 packs lab b up to stage 2,
                                     EXERCISES=b:1 adds find-the-bug exercises up to b's stage 1
  make bug-key [LAB=…]               the answers to the exercises of make bug, with the sanitizer's findings
  make slides [LAB=…]                slides of the handouts, one HTML file for each lab, in build/slides/
  make batch LAB=… SUBMISSIONS=…     grade a folder of submissions, or a zip from Canvas or Moodle;
                                     OUT=… gets the gradebook and feedback, ROSTER=… lists the students
                                     (ROSTER=one.csv,other.csv merges two files),
                                     UPTO=… is the last stage of the students' kit
  … SPEED=measured|modelled|off      for grade, batch, gradescope and autolab: where speed points come from
  make calibrate                     measure the constants of this machine's GPU, for modelled times
  make new-lab LAB=… [STAGES=…]      a new lab's skeleton; STAGES=01_naive,02_tile names its stages
  make export REPORT=… FORMAT=…      a report for gradescope, autolab, github, prairielearn, canvas or moodle
  make gradescope LAB=…              an autograder for Gradescope; make autolab LAB=… one for Autolab
  make test                          all tests of this project
END
}

from_here() { # PATH: prints it as an absolute path; a relative path starts at the caller's folder
    case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s\n' "$here/$1" ;;
    esac
}

need_course_packages() {
    need_packages
    [ "$VENV/course" -nt grader/python/batch/requirements.txt ] && [ ! "$VENV/ready" -nt "$VENV/course" ] ||
        sh grader/setup.sh course || exit 2
}

make_exercises() { # a students' kit already contains them
    exercises=$BUILD/exercises
    python "make $verb" grader.python.release.exercises --output "$exercises"
}

# Write handouts/results/<gpu>.json from the measurements in build/report and build/sweep and, for libraries, in
# build/peers.json.
results() { # [OPTION …]
    before= # the option that precedes the next file
    for file in "$BUILD"/report/*.json --sweeps "$BUILD"/sweep/*.json --peers "$BUILD"/peers.json; do
        case $file in
        --*) before=$file ;;
        *) [ ! -e "$file" ] || { set -- "$@" $before "$file" && before=; } ;;
        esac
    done
    python "make results" grader.python.docs.results "$@"
}

instructors_verb() { # [OPTION …]
    case $verb in gradescope | autolab | batch) need_lab "$@" ;; esac
    case $verb in
    demo)
        sh grader/setup.sh demo || exit 2
        unset LAB STAGE DATASET SOURCE FORCE UNSAFE JSON
        TREE=solutions
        judge grade --no-check-mode --no-nvcc --report-dir "$BUILD/report" "$@"
        status=$?
        python "the HTML page" grader.python.batch.outputs.report_page "$BUILD/report"
        exit $status
        ;;
    test)
        sh grader/setup.sh test || exit 2
        build program tests
        need_course_packages
        python3 tests/run.py
        ;;
    new-lab)
        [ -n "$LAB$*" ] || fail "Which name should the lab have? Type  make new-lab LAB=NAME,  for example LAB=my_lab"
        python "make new-lab" grader.python.release.new_lab ${LAB:+"$LAB"} ${STAGES:+--stages "$STAGES"} "$@"
        ;;
    starters) python "make starters" grader.python.release.starters "$@" ;;
    docs)
        build program
        python "make docs" grader.python.docs.tables --build "$BUILD" "$@" || exit
        for draw in handouts/pictures/*.py; do python3 -B "$draw" || exit 2; done
        ;;
    results) results "$@" ;;
    example-journal) # handouts/example-journal from the records and notes in it
        python "make example-journal" grader.python.journal.journal --folder handouts/example-journal --with-source "$@"
        ;;
    counters) # the sanitizer's counts of every solution become handouts/counters.json; needs no GPU
        build program
        python "make counters" grader.python.docs.counters ${LAB:+"$LAB"} --build "$BUILD" "$@"
        ;;
    peers)
        unset BACKEND DATASET TREE SOURCE FORCE UNSAFE
        JSON=$BUILD/peers.json
        judge peers "$@"
        ;;
    soak) # tests that take too long for make test; SECONDS_EACH=600: each part takes ten minutes; FUZZ_SCALE=10: ten
        # times as many inputs; MOODLE=DIR: with a real Moodle, whose source is in DIR
        build program
        need_course_packages
        sh grader/setup.sh soak || echo "Continuing without the missing tools." >&2
        build tests
        "$VENV/bin/python" tests/soak.py
        ;;
    bench-backend)
        build program
        make --no-print-directory -j"$jobs" -f grader/cpu/bench/bench.mk BUILD="$BUILD"
        ;;
    bench-grading)
        build program
        python "make bench-grading" grader.python.docs.grading_times --build "$BUILD" --json "$BUILD/grading_times.json"
        ;;
    calibrate) # the constants of this machine's GPU, for modelled times
        mkdir -p "$BUILD"
        "${NVCC:-nvcc}" -std=c++20 -O2 -arch=native -o "$BUILD/calibrate" grader/judge/predict/calibrate/calibrate.cu ||
            fail "make calibrate needs an NVIDIA GPU and nvcc 12.8 or newer."
        "$BUILD/calibrate" grader/judge/predict/gpus
        ;;
    kit) # LABS=one,other:2 (or LAB=one) and UPTO=3 select stages; EXERCISES=b:1 adds b's exercises up to stage 1
        if (need_packages); then set -- --handouts-with "$VENV/bin/python" "$@"; else echo "The kit has no HTML handouts." >&2; fi
        python "make kit" grader.python.release.kit --labs "${LABS:-$LAB}" --upto "$UPTO" \
            ${EXERCISES:+--exercises "$EXERCISES"} "$@"
        ;;
    bug-key)
        build program
        make_exercises || exit
        python "make bug-key" grader.python.release.exercise_key ${LAB:+"$LAB"} --exercises "$exercises" --build "$BUILD" "$@"
        ;;
    slides)
        need_packages
        "$VENV/bin/python" -m grader.python.docs.slides ${LAB:+--labs "$LAB"} --output "$BUILD/slides" "$@"
        ;;
    export)
        [ -n "$REPORT$*" ] && [ -n "$FORMAT$*" ] ||
            fail "Type  make export REPORT=build/report/LAB.json FORMAT=gradescope [OUTPUT=FILE]"
        python "make export" grader.python.batch.outputs.export ${REPORT:+"$REPORT"} ${FORMAT:+--format "$FORMAT"} \
            ${OUTPUT:+--output "$OUTPUT"} "$@"
        ;;
    gradescope | autolab) # UNSAFE=1: for a system without a sandbox; omits the hidden datasets
        [ "$verb" = gradescope ] || build program
        python "make $verb" grader.python.release.services "$verb" ${LAB:+"$LAB"} ${UPTO:+--upto "$UPTO"} \
            ${UNSAFE:+--unsafe} ${SPEED:+--speed "$SPEED"} --build "$BUILD" "$@"
        ;;
    batch) # a folder or archive of submissions, graded and reported: BATCH.md
        [ -n "$SUBMISSIONS$*" ] && [ -n "$OUT$*" ] ||
            fail "Type  make batch LAB=NAME SUBMISSIONS=folder-or-zip OUT=folder"
        build program
        need_course_packages
        rest=$ROSTER # one,other are two files, unless there is a file of that name
        while [ -n "$rest" ]; do
            name=$rest
            [ -e "$(from_here "$name")" ] || name=${rest%%,*}
            set -- "$@" --roster "$(from_here "$name")"
            case $rest in "$name",*) rest=${rest#"$name",} ;; *) rest= ;; esac
        done
        "$VENV/bin/python" -m grader.python.batch grade ${SUBMISSIONS:+"$SUBMISSIONS"} ${LAB:+--lab "$LAB"} \
            ${OUT:+--out "$OUT"} --build "$BUILD" ${BACKEND:+--backend "$BACKEND"} \
            ${STAGE:+--stage "$STAGE"} ${UPTO:+--upto "$UPTO"} ${UNSAFE:+--unsafe} \
            ${SPEED:+--speed "$SPEED"} \
            ${EXECUTOR:+--executor "$EXECUTOR"} "$@"
        ;;
    esac
}
