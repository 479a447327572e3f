# Builds the CUDA programs of this folder for the CPU backend, for this machine (native) and for aarch64 (cross). The
# tests call it in the project's root:  make -f tests/cpu/runtime/programs.mk BUILD=build native

MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.SECONDARY:

BUILD := build
out := $(BUILD)/cpu/runtime-tests
here := tests/cpu/runtime
programs := kernels groups libcudacxx cub host arithmetic half graphs faults order split whole
include_flags := -I$(here) -Igrader/cpu/include -I.
# The judge's flags: STUDENT_FLAGS, FAST_FLAGS, SPLIT_FLAGS and RUNTIME_FLAGS.
include $(out)/flags.mk
student_flags := $(STUDENT_FLAGS) $(FAST_FLAGS) -Wno-array-bounds $(include_flags)
runtime_flags := $(RUNTIME_FLAGS) -Wall -Wextra -I.
headers := $(out)/flags.mk $(wildcard grader/cpu/include/cu*/* grader/cpu/include/cu*/*/*) $(wildcard grader/cpu/*.h grader/cpu/*/*.h grader/cpu/*/*/*.h grader/cpu/*/*/*.inc grader/io/*.h $(here)/*.h)
runtime := $(patsubst grader/cpu/runtime/%.cpp,%.o,$(wildcard grader/cpu/runtime/*.cpp))

.DEFAULT_GOAL := native
.PHONY: native cross
native: $(programs:%=$(out)/native/%)
cross: $(patsubst %,$(out)/cross/%,$(filter-out order split whole,$(programs)))  # the tests on aarch64 run these
compiler_native := g++
compiler_cross := aarch64-linux-gnu-g++

$(out)/flags.mk: $(BUILD)/warplab
	@mkdir -p $(@D); $< flags >$@.new; cmp -s $@.new $@ || cp $@.new $@

$(out)/%.cpp: $(here)/%.cu $(BUILD)/cpu/rewrite
	@mkdir -p $(@D)
	@$(BUILD)/cpu/rewrite $< $@ --name $(<F)

# The same kernels, once split at their barriers and once with fibers.
$(out)/split.cpp: $(here)/split.cu $(BUILD)/cpu/rewrite
	@mkdir -p $(@D)
	@$(BUILD)/cpu/rewrite --split $< $@ --name $(<F)

$(out)/whole.cpp: $(here)/split.cu $(BUILD)/cpu/rewrite
	@mkdir -p $(@D)
	@$(BUILD)/cpu/rewrite $< $@ --name $(<F)

$(out)/native/split.o $(out)/cross/split.o: private student_flags += $(SPLIT_FLAGS)
# The thousands of functions in float16.cu take a minute to compile with -O2.
$(out)/native/float16.o: private student_flags += $(if $(WARPLAB_THOROUGH),,-O0)

define rules
$(out)/$(1)/runtime.a: $(runtime:%=$(out)/$(1)/runtime/%)
	@rm -f $$@; ar rcs $$@ $$^

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
