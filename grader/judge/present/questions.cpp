#include "grader/judge/present/questions.h"

#include <fmt/format.h>

#include <map>

namespace warplab {
namespace {

const std::map<std::string_view, std::string_view>& questions() {
    static const std::map<std::string_view, std::string_view> all = {
        // launches and indices
        {"not_launched", "Which line of the contract function starts a kernel?"},
        {"failed_launch", "How many threads does a block of this launch have, and what is the limit?"},
        {"tail_lost", "What is blocks times threads per block, and how many elements are there?"},
        {"grid_too_small",
         "How many threads does the launch start, how many elements are there, and which thread takes the others?"},
        {"rest_lost", "Which value decides where the threads stop, and which line computes it?"},
        {"one_block_only", "Which elements does a thread of the second block work on?"},
        {"block_size_forgotten", "Which element does the first thread of the second block work on?"},
        {"block_index_forgotten", "Do two threads of different blocks get the same index?"},
        {"vector_tail_lost", "Which thread works on the elements after the last whole vector?"},
        {"block_thread_swapped", "Which elements do the first two threads of a block work on?"},
        {"tail_repeated", "How many blocks process the elements after the last whole vector?"},
        {"tail_twice", "How many times is each of the last elements processed?"},
        {"last_element_lost", "Which elements pass your guard? Try it with n = 1."},
        {"steps_too_far", "Which element does a thread work on second, and which threads work on those between?"},
        {"stride_too_long", "Which element does a thread work on second, and which threads work on those between?"},
        {"counted_too_often", "Which other threads work on the same element?"},
        {"int_overflow", "What is the largest value of the index, and which type holds it?"},
        {"bytes_not_elements", "Does each CUDA function that you give a size count bytes or elements?"},
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
        {"unfinished_work", "What ensures that the earlier work on this memory has ended?"},
        {"leak", "Which allocation has no cudaFree on some path out of the function?"},
        {"not_destroyed", "How many streams and events exist after a thousand calls?"},
        {"copy_direction", "Is the source of this copy on the host or on the device, and where is its destination?"},
        {"copy_size", "How many bytes does each side of this copy have?"},
        // threads that meet
        {"race", "What ensures that one of the two threads is first?"},
        {"atomic_race", "Do all threads that access this element use atomics?"},
        {"lane_mask", "Which lanes does the mask name, and which lanes call this function?"},
        {"absent_lane", "Which lanes take part here, and from which lane does each one take its value?"},
        {"lost_updates", "What happens if two threads add to the same element at the same time?"},
        {"divergent_barrier", "Does every thread of the block reach this barrier?"},
        {"return_before_barrier", "Does every thread of the block reach this barrier?"},
        {"deadlock", "What does each thread wait for, and what ends that wait?"},
        {"timeout", "Which loop might never end, or take very long?"},
        // mistakes of single labs, and all others
        {"launch_failed",
         "How many blocks, threads and bytes of shared memory does this launch request, and what are the limits?"},
        {"blocks_rounded_down",
         "What is blocks times threads per block in each direction, and how large is the picture?"},
        {"blocks_overlap", "Where does the second block begin, and where does the first one end?"},
        {"rows_left_out", "How many threads does a block have in y, and which rows do they work on?"},
        {"strip_cut_off", "How many rows of the image do ROWS rows of the output need?"},
        {"ring_overwritten", "Which row has the place in the ring at the moment when you request the next one?"},
        {"thread_rows_overlap", "Which rows does the second row of threads work on, and which the first?"},
        {"component_lost", "How many elements does one vector hold, and which of them are used?"},
        {"component_forgotten", "How many elements does one vector hold, and which of them are used?"},
        {"bytes_lost", "How many bytes does one load bring, and is each of them used once?"},
        {"tail_index", "Which index belongs to the first element after the last whole vector or block?"},
        {"step_index", "Which elements does one unrolled step read, and which bin belongs to each?"},
        {"first_lost", "When is the result set to 0, and when is the first element added?"},
        {"lost_counts", "What happens if two threads add to the same bin at the same time?"},
        {"transposed", "Which direction counts columns, x or y: in the index, and in the launch?"},
        {"transposed_index", "Which direction counts columns, x or y: in the index, and in the launch?"},
        {"filter_transposed", "Which of the two indices is multiplied by the length of a row of the filter?"},
        {"sizes_exchanged",
         "In which order does the kernel take the two sizes, and in which order does the launch pass them?"},
        {"other_index", "Which index does each of the three arrays have in this line?"},
        {"comma_index", "What is the value of i, j in C++, and which of the two does the index use?"},
        {"row_forgotten", "Where does row y of the image begin?"},
        {"padded_index", "Which arrays have mirror columns, and which have none?"},
        {"wrong_pitch", "How many elements lie between the beginnings of two rows, in each array?"},
        {"padding_counted", "Which elements of a row belong to the input, and which are padding?"},
        {"position_counted", "What is the number of the bin: where an element is, or its value?"},
        {"wrong_bin", "Which bin belongs to the value 0, and which to the largest value?"},
        {"tree_step", "Which distances between two sums does the loop use, one after the other?"},
        {"wrong_threshold", "When do the iterations end, and what does the code compare for that?"},
        {"bins_missing", "How many bins are there, and which thread writes each of them?"},
        {"one_histogram", "Where does the second histogram begin?"},
        {"same_values", "Where do the values of the second histogram begin?"},
        {"read_past_end", "Which threads and bytes lie past the last element, and what do they add?"},
        {"block_incomplete", "Which values does the block's sum hold when it is used?"},
        {"nothing_added", "Which line adds to the result, and what does the result hold afterwards?"},
        {"nothing_counted", "Which line adds to the bins, and does anything clear them afterwards?"},
        {"value_added", "By how much does one element change its bin?"},
        {"bytes_reversed", "Which bits of a word belong to its first bin?"},
        {"wrong_neutral", "Which value can be added to a sum without changing it?"},
        {"wrong_shuffle", "From which lane does lane 0 take its value?"},
        {"old_partials", "Which of the two areas did the last kernel write to?"},
        {"partials_lost", "What happens to the last partial result if the number of partial results is odd?"},
        {"tree_not_power_of_two", "Which element has no partner if the number of elements is odd?"},
        {"last_term_only", "What does the sum hold after the second term?"},
        {"counted_repeatedly", "How many threads or blocks count the same element?"},
        {"counted_twice", "How many threads or blocks count the same element?"},
        {"wrong_operation", "Which formula does the contract give, and which one does this line compute?"},
        {"saturated", "Which types do the product and the sum have, and what is the largest value of each?"},
        {"truncated", "Which types do the values have on their way to the output?"},
        {"lost_sign", "What does the sum hold before a[i] is added?"},
        {"counter_overflow", "What is the largest count, and which type holds it?"},
        {"wraps_around", "What does a counter of 8 bits hold after 255 and one more?"},
        {"wrong_cap", "What is the largest count that a bin may hold, and does your comparison include it?"},
        {"cap_too_low", "Up to which count must a bin be exact, and at which count does your code stop adding?"},
        {"all_full",
         "What do the counters hold before the first element is counted, and which of two values does the last step "
         "keep?"},
        {"stopped_early", "When does your code stop counting, and which bins can still change then?"},
        {"mask_missing", "Which bits are left after the shift, and which belong to this bin?"},
        {"shifted_by_bits", "How many bits does a bin have, and by how many bits do you shift the word?"},
        {"all_zero", "What do the weights hold when the kernel runs, and which line put it there?"},
        {"filter_flipped", "With which pixel does the contract multiply the weight filter[0]?"},
        {"filter_ignored", "Where do the weights come from in this call?"},
        {"not_normalised", "What is the sum of all weights that the kernel uses?"},
        {"not_weighted", "By what is each pixel multiplied before it is added?"},
        {"not_filtered", "How many products are in one pixel?"},
        {"tile_incomplete", "How many elements does the tile have, and how many threads does the block have?"},
        {"tile_edge_wrong", "How far around its tile does a block read, and is all of that loaded?"},
        {"buffers_not_swapped", "Which of the two fields was written last?"},
        {"no_field", "Which pointer does the function return, and was the answer written there?"},
        {"in_place", "Are all neighbours of a cell still the old ones when it is computed?"},
        {"wrong_mirror", "Which cells are the left neighbours of column 0, and when are their copies updated?"},
        {"change_not_cleared", "What does the largest change hold when an iteration begins?"},
        {"change_with_sign", "How large is the change of a cell that cools?"},
        {"maximum_too_large",
         "Which values does the maximum include, and are all of them changes of cells in this iteration?"},
        {"lost_maximum", "Which changes does the reduction never compare?"},
        {"mean_change", "Which change decides whether the iterations end?"},
        {"one_cell_only", "Which cells' changes does the reduction compare?"},
        {"never_converged", "When do the iterations end, and which line tests that?"},
        {"one_iteration_missing", "Which iteration is the last one that counts?"},
        {"stops_one_late", "Which iteration's change does the test compare with the threshold?"},
        {"tested_every_k_iterations", "After which iterations is the change tested?"},
        {"threshold_counts", "What does the contract say about a largest change that equals the threshold?"},
        {"field_too_late", "What still writes to the field after the last iteration that counts?"},
        {"conductivity_inverted", "What should happen to a cell whose conductivity is 1?"},
        {"conductivity_ignored", "Where does the formula use the conductivity?"},
        {"conductivity_of_another_row", "Which row of the field and which row of the conductivity meet in this line?"},
        {"diagonal_forgotten", "How many neighbours does a cell have?"},
        {"weights_equal", "Which neighbours are nearer, and which weight does each have?"},
        {"weights_exchanged", "Which neighbours are nearer, and which weight does each have?"},
        {"unset_constant", "Which line copies to this constant, and does it run before the kernel?"},
        {"same_value", "How many threads write this element, and is one enough?"},
        {"beside_atomic", "Can the value change between this read and its use?"},
        {"not_copied_back", "Where is the result after the kernel, and which line copies it to the host?"},
        {"wrong_value", "Which thread computes this element, and from which values?"},
        {"nan", "Which value that goes into this element is not a number?"},
        {"illegal_instruction", "By what does this line divide, and does each function that it calls return a value?"},
        {"missing_return", "Which value does this function return, on every path through it?"},
        {"crash", "What was the program doing when it crashed, and with which values?"},
        {"cuda_error", "How many bytes does the program allocate, and which addresses do its threads use?"},
        {"out_of_memory", "How many bytes does the program allocate, and when does it free them?"},
        {"exited", "Which line ends the program?"},
        {"host_work", "Which data goes back to the host, and where should it be processed?"},
        {"too_much_output", "Which line prints, and how many threads execute it?"},
        {"added_repeatedly", "How many threads add the same sum?"},
        {"missing_barrier",
         "Which threads add in each step of the tree, and what ensures that they have finished before the next step?"},
        {"float_sum", "Which type holds the sum, and how many digits does it keep?"},
        {"halo_updated", "Which rows of the padded field may the kernel write?"},
        {"one_block_lost", "What happens to the last partial result if the number of partial results is odd?"},
        {"indexed_by_position", "What is the number of the bin: where a pixel is, or its value?"},
        {"last_lost", "Which elements pass your guard? Try it with n = 1."},
        {"last_pixel_lost", "Which pixels pass your guard? Try it with n = 1."},
        {"wrong_clear", "What does each byte of the bins hold after they were cleared?"},
        {"carry", "At which count does your code stop adding to a byte, and which threads can still add then?"},
        {"wrapped", "At which count does your code stop adding to a bin, and which threads can still add then?"},
        {"head_lost", "Which values lie before the first aligned vector of a histogram?"},
        {"window_lost", "When does the block write its counts from shared memory to the histogram?"},
        {"window_misplaced", "Where does the window begin when values are counted, and where when it is written?"},
        {"full_bin_wrong", "What happens to a count that has reached 255: is it kept, added to, or left out?"},
        {"one_bin_only", "To which bin does the line add, for each of the values?"},
        {"neighbours_equal", "Which pixels of the image belong to the second of these neighbours?"},
        {"one_element_only", "Which index does thread 1 of block 0 compute?"},
        {"bins_lost", "Which thread counts the values of these bins, and does anything clear the bins afterwards?"},
        {"share_lost", "Which block owns these bins?"},
        {"shifted", "For element 0, which index does each array get?"},
        {"sum_not_saturated", "How large can the sum of two partial counts be, and which type holds it?"},
        {"taps_lost", "Which rows and columns of the filter do the two loops run over?"},
        {"halo_shifted", "Which pixel of the image belongs to weight (0, 0) of the first pixel of out?"},
        {"halo_missing", "Which pixels around its tile does a block read, and which thread loads each of them?"},
        {"corner_missing", "Which pixels around its tile does a block read, and which thread loads each of them?"},
        {"edge_cut_off", "How wide and how high is the image, compared with out?"},
    };
    return all;
}

template <class Problem>  // a Failure or a Finding
void ask(Problem& problem) {
    const std::string_view question = question_about(problem.cause);
    if (!problem.hint.empty() && !question.empty()) problem.hint = fmt::format("{} HINT=1 says what to try.", question);
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
