# Builds the CUDA programs here for the CPU backend, natively and, where there is a cross compiler, for aarch64. The
# tests call it:  make -f tests/cpu/runtime/programs.mk BUILD=build native  (or: cross), in the project's root.

MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.SECONDARY:

BUILD := build
out := $(BUILD)/cpu/runtime-tests
here := tests/cpu/runtime
programs := kernels groups libcudacxx cub host arithmetic half graphs faults order split whole
include_flags := -I$(here) -Igrader/cpu/include -I.
student_flags := -std=c++17 -O2 -g1 -fwrapv -fno-strict-aliasing -ffp-contract=off \
    -ftrivial-auto-var-init=pattern -pthread -Wall -Wno-unused -Wno-sign-compare -Wno-unknown-pragmas -Wno-array-bounds -DWARPLAB_CPU_FAST $(include_flags)
runtime_flags := -std=c++20 -O2 -pthread -Wall -Wextra -I.
headers := $(wildcard grader/cpu/include/cu*/* grader/cpu/include/cu*/*/*) $(wildcard grader/cpu/*.h grader/cpu/*/*.h grader/cpu/*/*/*.h grader/cpu/*/*/*.inc grader/io/*.h $(here)/*.h)
runtime := $(patsubst grader/cpu/runtime/%.cpp,%.o,$(wildcard grader/cpu/runtime/*.cpp))

.PHONY: native cross
native: $(programs:%=$(out)/native/%)
cross: $(programs:%=$(out)/cross/%)
compiler_native := g++
compiler_cross := aarch64-linux-gnu-g++

$(out)/%.cpp: $(here)/%.cu $(BUILD)/cpu/rewrite
	@mkdir -p $(@D)
	@$(BUILD)/cpu/rewrite $< $@ --name $(<F)

# The same kernels, split at their barriers and by fibers.
$(out)/split.cpp: $(here)/split.cu $(BUILD)/cpu/rewrite
	@mkdir -p $(@D)
	@$(BUILD)/cpu/rewrite --split $< $@ --name $(<F)

$(out)/whole.cpp: $(here)/split.cu $(BUILD)/cpu/rewrite
	@mkdir -p $(@D)
	@$(BUILD)/cpu/rewrite $< $@ --name $(<F)

$(out)/native/split.o $(out)/cross/split.o: private student_flags += -O3

define rules
$(out)/$(1)/runtime/%.o: grader/cpu/runtime/%.cpp $(headers)
	@mkdir -p $$(@D)
	@$(compiler_$(1)) $(runtime_flags) -c -o $$@ $$<

$(out)/$(1)/%.o: $(out)/%.cpp $(headers)
	@mkdir -p $$(@D)
	@$(compiler_$(1)) $(student_flags) -include cuda_runtime.h -c -o $$@ $$<

$(out)/$(1)/%: $(out)/$(1)/%.o $(runtime:%=$(out)/$(1)/runtime/%)
	@$(compiler_$(1)) -pthread -o $$@ $$^
endef
$(foreach target,native cross,$(eval $(call rules,$(target))))
