#!/bin/sh
# `make help`: builds and installs nothing. Where the student stands is the judge's to say, once it is built.

show=
for pictures in labs/*/show.cpp; do # a students' kit may have none
    [ ! -e "$pictures" ] || show="
  make show LAB=… [IMAGE=file]       pictures of what your code computes, in build/show/"
done
cat <<END
Warplab: CUDA labs in stages, checked and timed on a GPU or, without one, on the CPU.

  make start LAB=…                   copy a lab's starters into work/ (never over a file of yours)
  make check LAB=… [STAGE=02]        compile and check your files; DATASET=… picks one and shows your printf
  make bench LAB=… STAGE=…           check, then the 1000-iteration benchmark (needs a GPU)
  make grade [LAB=…] [STAGE=…]       verdicts, causes, points; TREE=work|solutions|starter|DIR
  make sweep LAB=… STAGE=…           try the stage's block sizes, strides … and show the best
  make inspect LAB=… STAGE=…         races, wild accesses and what costs time, by line, without a GPU; GPU=T4 picks one$show
  make device                        this GPU's limits and what bounds each lab on it
  make profile LAB=… STAGE=…         Nsight Compute and Nsight Systems on your stage
  make sanitize LAB=… STAGE=…        compute-sanitizer's four tools on your stage
  make note LAB=… STAGE=… [NEW=1]    your words on this optimisation: goal, expectation, difficulties, hours
  make journal LAB=… [PDF=1]         your timing report, made of all that was recorded and noted
  make import REPORT=…               add a report from someone else's GPU to your journal
  make submit LAB=…                  pack your files for handing in

BACKEND=cuda|cpu overrides the choice of backend.
END

first=
if [ -e grader/course.mk ]; then # no students' kit
    first="make demo, or "
    cat <<'END'

For instructors; more in grader/python/release/RELEASES.md and, for developers, CONTRIBUTING.md:
  make demo                          grade every reference solution: shows that all works here (builds first)
  make kit [LABS=…] [UPTO=stage]     the students' archive, without solutions; LABS=one,other:2 cuts one lab
  make batch LAB=… SUBMISSIONS=…     grade a folder of submissions, or the zip that Canvas or Moodle gives;
                                     OUT=… is where gradebook and feedback go, ROSTER=… says who is who,
                                     UPTO=… how far the students' kit went
  make export REPORT=… FORMAT=…      a report as gradescope, autolab, github, prairielearn, canvas or moodle reads it
  make gradescope LAB=…              an autograder for Gradescope; make autolab LAB=… one for Autolab
  make test                          all tests of this project
END
fi
echo

if [ -x "$BUILD/warplab" ]; then
    exec "$BUILD/warplab" list ${WORK:+--work "$WORK"}
fi
echo "Labs:"
for lab in labs/*/lab.json; do
    lab=${lab#labs/}
    lab=${lab%/lab.json}
    echo "  $lab"
    for stage in "starter/$lab"/*.cu; do
        stage=${stage##*/}
        [ "$stage" = "*.cu" ] || echo "    ${stage%.cu}"
    done
done
echo
echo "Next: ${first}make start LAB=NAME. (Where you stand is shown here once the judge is built.)"
