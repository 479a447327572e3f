# `make VERB NAME=VALUE …` is `./warplab VERB NAME=VALUE …`. That program parses the words, builds and runs.

# The program gets the words as they were typed, through the environment: make never expands them.
export WARPLAB_WORDS := $(MAKEOVERRIDES)
export WARPLAB_GOALS := $(MAKECMDGOALS)
unexport $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name)))

program := $(dir $(lastword $(MAKEFILE_LIST)))warplab
# With -q, which does not stop lines that begin with +, make adds no "*** [check] Error 1" to the output of a failed check.
run := $(if $(findstring n,$(firstword -$(MAKEFLAGS))),,+)
MAKEFLAGS += $(if $(run),-q)

help .DEFAULT:
	$(run)@trap : INT; $(program) '$(subst ','\'',$@)'
.PHONY: help
