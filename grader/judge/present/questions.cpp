#include "grader/judge/present/questions.h"

#include <fmt/format.h>

#include <map>

namespace warplab {
namespace {

const std::map<std::string_view, std::string_view>& questions() {
    static const std::map<std::string_view, std::string_view> all = {
        // launches and indices
        {"not_launched", "Which line of the contract function starts a kernel?"},
        {"failed_launch", "How many threads has a block of this launch, and which limits are there?"},
        {"tail_lost", "What is blocks times threads per block, and how many elements are there?"},
        {"grid_too_small", "How many threads does the launch start, and how many elements are there?"},
        {"one_block_only", "Which elements does a thread of the second block work on?"},
        {"block_size_forgotten", "Which element does the first thread of the second block work on?"},
        {"block_index_forgotten", "Do two threads of different blocks get the same index?"},
        {"vector_tail_lost", "Which thread works on the elements after the last whole vector?"},
        {"tail_twice", "How many times is each of the last elements processed?"},
        {"last_element_lost", "Which elements pass your guard? Try it with n = 1."},
        {"steps_too_far", "Which element does a thread work on second, and which threads work on those between?"},
        {"stride_too_long", "Which element does a thread work on second, and which threads work on those between?"},
        {"counted_too_often", "Which other threads work on the same element?"},
        {"int_overflow", "What is the largest value of the index, and which type holds it?"},
        {"bytes_not_elements", "Does this function count bytes or elements?"},
        {"empty_not_written", "What does the call do if there are no elements?"},
        // memory
        {"never_written", "Which thread writes this element?"},
        {"out_of_bounds_write", "What is the largest index that is written, and how many elements are there?"},
        {"out_of_bounds", "What is the largest index that this line uses, and how many elements are there?"},
        {"uninitialised", "Which line writes this value before it is read here?"},
        {"misaligned", "By how many bytes must this address be divisible, and for which index is it not?"},
        {"constant_written", "Which line writes to constant memory?"},
        {"input_written", "Which line writes to an input?"},
        {"added_to_garbage", "What is in the output before the first addition?"},
        {"not_cleared", "What is in the output when the second call begins?"},
        {"stale_result", "What is in the output when the second call begins?"},
        {"kept_value", "What does this variable hold when the second call begins?"},
        {"kept_state", "What is different when the function is called a second time?"},
        {"shared_not_cleared", "What is in shared memory when a block begins?"},
        {"stale_shared", "What is in shared memory when a block begins?"},
        {"input_modified", "Which line writes to an input?"},
        {"host_memory", "Does this address belong to the host or to the device?"},
        {"device_memory", "Does this address belong to the host or to the device?"},
        {"use_after_free", "What still uses this memory when it is freed?"},
        {"invalid_free", "What returned this pointer, and was it freed before?"},
        {"unfinished_work", "What makes sure that the earlier work on this memory has ended?"},
        {"leak", "Which allocation lacks a cudaFree on some way out of the function?"},
        {"copy_direction", "Is the source of this copy on the host or on the device, and where is its destination?"},
        {"copy_size", "How many bytes does each side of this copy have?"},
        // threads that meet
        {"race", "What makes sure that one of the two threads is first?"},
        {"atomic_race", "Do all threads that access this element use atomics?"},
        {"lane_mask", "Which lanes does the mask name, and which lanes call this function?"},
        {"absent_lane", "Which lanes take part here, and from which lane does each one take its value?"},
        {"lost_updates", "What happens if two threads add to the same element at the same time?"},
        {"divergent_barrier", "Does every thread of the block reach this barrier?"},
        {"return_before_barrier", "Does every thread of the block reach this barrier?"},
        {"deadlock", "What does each thread wait for, and what ends that wait?"},
        {"timeout", "Which loop might never end, or take very long?"},
    };
    return all;
}

template <class Told>  // a Failure or a Finding
void ask(Told& told) {
    const std::string_view question = question_about(told.cause);
    if (!told.hint.empty() && !question.empty()) told.hint = fmt::format("{} HINT=1 says what to try.", question);
}

}  // namespace

std::string_view question_about(std::string_view cause) {
    const auto found = questions().find(cause);
    return found == questions().end() ? "" : found->second;
}

Finding ask_first(Finding finding) {
    ask(finding);
    return finding;
}

StageReport ask_first(StageReport stage) {
    for (Check& check : stage.checks)
        if (check.failure) ask(*check.failure);
    if (stage.check_mode)
        for (Finding& finding : stage.check_mode->findings) ask(finding);
    return stage;
}

}  // namespace warplab
