# `make bench-backend` measures how fast the CPU backend runs kernels and compiles stages. Its programs are built in
# BUILD/bench, with the judge's flags.

MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:

BUILD := build
V :=
Q := $(if $(V),,@)
bench := $(BUILD)/bench
rewrite := $(BUILD)/cpu/rewrite

# This file defines STUDENT_FLAGS, FAST_FLAGS, SPLIT_FLAGS and RUNTIME_FLAGS.
include $(bench)/flags.mk
$(bench)/flags.mk: $(BUILD)/warplab
	@mkdir -p $(@D); $< flags >$@.new; cmp -s $@.new $@ || cp $@.new $@

runtime := $(patsubst grader/cpu/runtime/%.cpp,$(bench)/%.o,$(wildcard grader/cpu/runtime/*.cpp))
headers := $(wildcard grader/cpu/include/* grader/cpu/include/*/* grader/cpu/*.h grader/cpu/runtime/*.h)
precompiled := $(bench)/include/cuda_runtime.h.gch

.DEFAULT_GOAL := bench
.PHONY: bench run-kernels compile-stages
bench: run-kernels compile-stages

run-kernels: $(bench)/bench
	@$<

# The time for which a student waits: rewrite and compile the stages, as the judge does, one after the other.
compile-stages: run-kernels $(precompiled)
	@echo; for stage in solutions/*/*.cu; do \
	    begin=$$(date +%s%N); \
	    $(rewrite) "$$stage" $(bench)/stage.cpp && \
	    $(CXX) $(STUDENT_FLAGS) $(FAST_FLAGS) -I$(bench)/include -include cuda_runtime.h -I. -I"labs/$$(basename "$$(dirname "$$stage")")" \
	        -c -o $(bench)/stage.o $(bench)/stage.cpp || exit 1; \
	    end=$$(date +%s%N); \
	    printf '%-60s %6s ms   (at most 1200)\n' "compile $$stage" $$(((end - begin) / 1000000)); \
	done

$(bench)/bench: $(bench)/bench.o $(bench)/sequential.o $(runtime)
	$(Q)$(CXX) -o $@ $^ -pthread -ldl -lrt

$(bench)/bench.cpp: grader/cpu/bench/bench.cu $(rewrite)
	@mkdir -p $(@D)
	$(Q)$(rewrite) --split $< $@ --name $<

$(bench)/bench.o: $(bench)/bench.cpp $(precompiled) $(bench)/flags.mk
	@echo "  compile grader/cpu/bench/bench.cu"
	$(Q)$(CXX) $(STUDENT_FLAGS) $(FAST_FLAGS) $(SPLIT_FLAGS) -I$(bench)/include -include cuda_runtime.h -Igrader/cpu/bench -c -o $@ $<

$(bench)/sequential.o: grader/cpu/bench/sequential.cpp
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O3 -c -o $@ $<

$(runtime): $(bench)/%.o: grader/cpu/runtime/%.cpp $(headers) $(bench)/flags.mk
	@echo "  compile $<"
	@mkdir -p $(@D)
	$(Q)$(CXX) $(RUNTIME_FLAGS) -I. -c -o $@ $<

$(precompiled): $(headers) $(bench)/flags.mk
	@mkdir -p $(@D)
	@cp -r grader/cpu/include/. $(@D)
	$(Q)$(CXX) $(STUDENT_FLAGS) $(FAST_FLAGS) -x c++-header -o $@ $(@:.gch=)
