# `make VERB NAME=VALUE …` is `./warplab VERB NAME=VALUE …`. That program parses the words, builds and runs.

# It gets the words as they were typed, through the environment: make never expands them.
export WARPLAB_WORDS := $(MAKEOVERRIDES)
export WARPLAB_GOALS := $(MAKECMDGOALS)
unexport $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name)))

help .DEFAULT:
	@./warplab '$(subst ','\'',$@)'
.PHONY: help
