# How the programs are built. All paths are relative to the project's root, so the checkout may lie in a folder whose
# name has spaces. The judge compiles the runner, the CPU backend's runtime and the student's files itself.

MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.SECONDARY:

BUILD := build
V :=
hash := \#
Q := $(if $(V),,@)
objects := $(BUILD)/objects

# By default, g++ collects garbage so often that compiling a large file takes a quarter longer.
ALL_FLAGS := -std=c++20 -Wall -Wextra -fPIC -I. -MMD -MP --param ggc-min-heapsize=1000000 --param ggc-min-expand=100
# g++ 12 wrongly warns about overruns in std::string and fmt.
CXXFLAGS := $(ALL_FLAGS) -Og -Wno-array-bounds -pthread
# The labs whose oracles are built.
LABS := $(notdir $(wildcard labs/*))
# The CPU that oracles are built for; empty: any CPU of this machine's architecture.
MARCH := native
ORACLE_FLAGS := $(ALL_FLAGS) -O3 $(if $(MARCH),-march=$(MARCH)) -fopenmp -Wno-stringop-overflow
TEST_FLAGS := -O0
LIBRARIES := -lfmt -lcrypto -lseccomp -lgomp -ldl -pthread

sources = $(wildcard $(1)/*.cpp $(1)/*/*.cpp $(1)/*/*/*.cpp)
objects_of = $(patsubst %.cpp,$(objects)/%.o,$(1))

# Headers and templates take most of the compilation time, so the files of several folders are compiled together, as one
# unit. The files that include the JSON library, which takes seconds, form a unit of their own. The largest unit is
# first, so that two cores finish at about the same time. These files are compiled alone: the files with a main, which
# the test program omits, and files with their own flags or macros.
alone := %/main.cpp %/version.cpp %/image.cpp
json := $(filter-out $(alone),$(shell grep -rl --include=*.cpp '<nlohmann/json.hpp>' grader))
units = $(foreach unit,judge compile bench json rewriter base,$(if $(strip $(call sources_of_unit,$(unit))),$(unit)))
compile := $(addprefix grader/judge/,compile run sandbox sanitizer)
bench := $(addprefix grader/judge/,bench device predict)
base := grader/common grader/io grader/model grader/judge/lab
rewriter := grader/cpu/rewriter
judge := $(filter-out $(compile) $(bench) $(base),$(patsubst %/,%,grader/judge $(wildcard grader/judge/*/)))
sources_of_unit = $(if $(filter json,$(1)),$(json) $(patsubst $(BUILD)/%,%,$(generated)),\
    $(filter-out $(alone) $(json),$(foreach folder,$($(1)),$(wildcard $(folder)/*.cpp))))
object_of_unit = $(patsubst %,$(objects)/%.o,$(1))

# The schemas whose C++ types are generated. manifest.cpp reads lab.json and the datasets with its own types, and only
# Python reads the quizzes and the rubric.
schemas := $(patsubst grader/model/schema/%.schema.json,%,$(wildcard grader/model/schema/*.schema.json))
generated := $(patsubst %,$(BUILD)/generated/%.cpp,$(filter-out datasets lab quiz quiz_answers rubric,$(schemas)))
judge_sources := $(foreach part,common io judge model,$(call sources,grader/$(part)))
rewriter_sources := $(call sources,grader/cpu/rewriter)
judge_objects := $(call object_of_unit,$(filter-out rewriter,$(units))) \
    $(call objects_of,$(filter $(alone),$(judge_sources)))
rewriter_objects := $(call object_of_unit,$(filter rewriter,$(units))) $(call objects_of,$(filter $(alone),$(rewriter_sources)))
oracles := $(patsubst labs/%.cpp,$(BUILD)/labs/%.so,$(wildcard $(LABS:%=labs/%/oracle.cpp)))
oracle_objects := $(call objects_of,$(wildcard labs/*/oracle.cpp labs/*/show.cpp))
test_folders := $(patsubst %/,%,$(sort $(dir $(filter %_test.cpp,$(call sources,tests)))))
test_objects := $(call object_of_unit,$(test_folders))
tested_runtime := $(call objects_of,grader/cpu/runtime/clock.cpp)

# Each of these files is written only if its contents change, so that the files that depend on it are built only then.
# This happens while make reads this file, so that make -n knows what will be built. Archives contain grader/revision,
# because git would describe the checkout in which an archive is unpacked.
remember = $(shell mkdir -p $(dir $(1)); new="$(2)"; [ "$$new" = "$$(cat $(1) 2>/dev/null)" ] || echo "$$new" >$(1))
$(call remember,$(BUILD)/revision,$$(cat grader/revision 2>/dev/null || git describe --always --dirty --abbrev=10 2>/dev/null || echo unknown))
$(call remember,$(BUILD)/compiler,$(CXX) $$($(CXX) -dumpfullversion) $(CXXFLAGS))
include_all = $$(printf '$(hash)include "%s"\n' $(1))
$(foreach unit,$(units),$(call remember,$(BUILD)/units/$(unit).cpp,$(call include_all,$(call sources_of_unit,$(unit)))))
$(foreach folder,$(test_folders),\
    $(call remember,$(BUILD)/units/$(folder).cpp,$(call include_all,$(wildcard $(folder)/*_test.cpp))))
$(call remember,$(BUILD)/oracle-objects,$(oracle_objects))
$(call remember,$(BUILD)/test-objects,$(test_objects))
$(call remember,$(BUILD)/machine,$$($(CXX) -dumpfullversion) $(ORACLE_FLAGS) $$(grep -m1 -e 'model name' /proc/cpuinfo))

.PHONY: program tests
program: $(BUILD)/warplab $(BUILD)/cpu/rewrite $(oracles)
tests: program $(BUILD)/tests
program tests: ; @:

# Programs are linked under another name and then renamed, so that one can be started while it is built again.
# -rdynamic: oracles use functions of the program that loads them.
$(BUILD)/warplab: $(judge_objects)
	@echo "  link    $@"
	$(Q)$(CXX) -rdynamic -o $@.new $^ $(LIBRARIES) && mv $@.new $@

$(BUILD)/cpu/rewrite: $(rewriter_objects)
	@echo "  link    $@"
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@.new $^ $(LIBRARIES) && mv $@.new $@

# A lab's show.cpp, if there is one, is part of its oracle.
$(oracles): $(BUILD)/machine $(BUILD)/oracle-objects
	@echo "  link    $@"
	@mkdir -p $(@D)
	$(Q)$(CXX) -shared -fopenmp -o $@.new $(filter %.o,$^) && mv $@.new $@
$(foreach object,$(oracle_objects),\
    $(eval $(patsubst $(objects)/labs/%,$(BUILD)/labs/%,$(dir $(object)))oracle.so: $(object)))

# Precompiled headers save time only if there are at least two labs.
headers_of_labs := $(if $(word 2,$(LABS)),$(BUILD)/precompiled/labs.h)
$(oracle_objects): $(objects)/%.o: %.cpp $(BUILD)/machine $(headers_of_labs:=.gch)
	@echo "  compile $<"
	@mkdir -p $(@D)
	$(Q)$(CXX) $(ORACLE_FLAGS) $(addprefix -include ,$(headers_of_labs)) -c -o $@ $<

$(BUILD)/precompiled/labs.h.gch: labs/precompiled.h $(BUILD)/machine
	@echo "  compile $<"
	@mkdir -p $(@D)
	$(Q)$(CXX) $(ORACLE_FLAGS) -o $@ $<

$(BUILD)/tests: $(test_objects) $(tested_runtime) $(filter-out %/main.o,$(judge_objects) $(rewriter_objects)) $(BUILD)/test-objects
	@echo "  link    $@"
	$(Q)$(CXX) -rdynamic -o $@ $(filter %.o,$^) -lgtest_main -lgmock -lgtest $(LIBRARIES)

$(objects)/%.o: %.cpp $(BUILD)/compiler
	@echo "  compile $<"
	@mkdir -p $(@D)
	$(Q)$(CXX) $(CXXFLAGS) $(PRECOMPILED) -c -o $@ $<

$(call object_of_unit,$(units)) $(test_objects): $(objects)/%.o: $(BUILD)/units/%.cpp $(BUILD)/compiler
	@echo "  compile $*"
	@mkdir -p $(@D)
	$(Q)$(CXX) $(CXXFLAGS) $(PRECOMPILED) -c -o $@ $<
$(objects)/json.o: $(generated)

# A file whose text stays the same is not written, so that files that include it are not compiled again.
$(BUILD)/generated/%.written: $(wildcard grader/model/schema/*.json grader/model/schema/*.py)
	@echo "  write   $(@D)/$*.h"
	$(Q)python3 -B grader/model/schema/generate.py $* $(@D)
	$(Q)touch $@
$(BUILD)/generated/%.h: $(BUILD)/generated/%.written ;
$(BUILD)/generated/%.cpp: $(BUILD)/generated/%.written ;
# These headers must exist before the first compilation, which writes the .d files: only these say who needs a header.
$(judge_objects) $(test_objects): | $(generated)
$(judge_objects) $(test_objects): private CXXFLAGS += -I$(BUILD)

# Headers that take long to compile are compiled once; g++ finds the .gch next to the header.
$(BUILD)/precompiled/%.h.gch: %/precompiled.h $(BUILD)/compiler
	@echo "  compile $<"
	@mkdir -p $(@D)
	$(Q)$(CXX) $(CXXFLAGS) -o $@ $<

$(judge_objects) $(rewriter_objects): private PRECOMPILED := -include $(BUILD)/precompiled/grader.h
$(judge_objects) $(rewriter_objects): $(BUILD)/precompiled/grader.h.gch
$(test_objects): private PRECOMPILED := -include $(BUILD)/precompiled/tests.h
$(test_objects): $(BUILD)/precompiled/tests.h.gch
$(test_objects) $(BUILD)/precompiled/tests.h.gch: private CXXFLAGS += $(TEST_FLAGS)
$(objects)/grader/model/version.o: private CXXFLAGS += -DWARPLAB_REVISION='"$(shell cat $(BUILD)/revision)"'
$(objects)/grader/model/version.o: $(BUILD)/revision

-include $(judge_objects:.o=.d) $(rewriter_objects:.o=.d) $(test_objects:.o=.d) $(oracle_objects:.o=.d)
-include $(wildcard $(BUILD)/precompiled/*.d)
