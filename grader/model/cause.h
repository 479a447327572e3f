#pragma once
// Causes that do not depend on the lab. Oracles add others (tail_lost, not_cleared …).
namespace warplab::cause {

// compiling
inline constexpr auto missing_file = "missing_file";
inline constexpr auto empty_file = "empty_file";
inline constexpr auto compile_error = "compile_error";
inline constexpr auto refused_feature = "refused_feature";    // the CPU backend does not support it
inline constexpr auto missing_function = "missing_function";  // no contract function
inline constexpr auto wrong_signature = "wrong_signature";
inline constexpr auto starter = "starter";  // still the starter's code
inline constexpr auto own_main = "own_main";
inline constexpr auto reserved_symbol = "reserved_symbol";  // defines a name of the harness
inline constexpr auto compile_timeout = "compile_timeout";

// running
inline constexpr auto crash = "crash";
inline constexpr auto illegal_instruction = "illegal_instruction";
inline constexpr auto missing_return = "missing_return";
inline constexpr auto timeout = "timeout";
inline constexpr auto not_run = "not_run";  // because an earlier dataset took too long
inline constexpr auto deadlock = "deadlock";
inline constexpr auto exited = "exited";  // exit() or _exit() was called
inline constexpr auto cuda_error = "cuda_error";
inline constexpr auto launch_failed = "launch_failed";
inline constexpr auto not_launched = "not_launched";
inline constexpr auto out_of_memory = "out_of_memory";
inline constexpr auto too_much_output = "too_much_output";  // printed too much
inline constexpr auto leak = "leak";
inline constexpr auto host_work = "host_work";  // copied more to the host than the stage allows
inline constexpr auto protocol = "protocol";    // a packet of the runner breaks the protocol

// outputs
inline constexpr auto never_written = "never_written";
inline constexpr auto out_of_bounds_write = "out_of_bounds_write";
inline constexpr auto wrong_pitch = "wrong_pitch";  // for oracles: rows are too far apart or too close
inline constexpr auto bytes_not_elements = "bytes_not_elements";
inline constexpr auto not_copied_back = "not_copied_back";  // for host functions
inline constexpr auto input_modified = "input_modified";
inline constexpr auto nan = "nan";
inline constexpr auto added_to_garbage = "added_to_garbage";  // += on an output that holds garbage
inline constexpr auto wrong_value = "wrong_value";
inline constexpr auto wrong_result = "wrong_result";  // a wrong count or other number, although the outputs are right
inline constexpr auto race = "race";                  // the same inputs give different outputs
inline constexpr auto return_before_barrier = "return_before_barrier";
inline constexpr auto grid_too_small = "grid_too_small";  // for oracles, as the next five: explained with numbers
inline constexpr auto lost_counts = "lost_counts";
inline constexpr auto block_incomplete = "block_incomplete";
inline constexpr auto lost_updates = "lost_updates";
inline constexpr auto counted_too_often = "counted_too_often";
inline constexpr auto first_lost = "first_lost";
inline constexpr auto kept_state = "kept_state";  // correct only in the first call

// findings of the sanitizer, which also has race, return_before_barrier and leak
inline constexpr auto out_of_bounds = "out_of_bounds";
inline constexpr auto use_after_free = "use_after_free";
inline constexpr auto uninitialised = "uninitialised";
inline constexpr auto atomic_race = "atomic_race";  // a race between a plain write and an atomic
inline constexpr auto divergent_barrier = "divergent_barrier";
inline constexpr auto misaligned = "misaligned";
inline constexpr auto host_memory = "host_memory";
inline constexpr auto device_memory = "device_memory";
inline constexpr auto unfinished_work = "unfinished_work";
inline constexpr auto copy_direction = "copy_direction";
inline constexpr auto copy_size = "copy_size";
inline constexpr auto failed_launch = "failed_launch";
inline constexpr auto invalid_free = "invalid_free";
inline constexpr auto not_destroyed = "not_destroyed";  // streams and events
inline constexpr auto lane_mask = "lane_mask";
inline constexpr auto input_written = "input_written";
inline constexpr auto constant_written = "constant_written";
inline constexpr auto beside_atomic = "beside_atomic";  // a note, as are the next four
inline constexpr auto same_value = "same_value";
inline constexpr auto absent_lane = "absent_lane";
inline constexpr auto unset_constant = "unset_constant";
inline constexpr auto kept_value = "kept_value";

// measuring
inline constexpr auto implausible_timing = "implausible_timing";
inline constexpr auto timed_output_wrong = "timed_output_wrong";

// errors of the judge
inline constexpr auto internal = "internal";
inline constexpr auto sandbox = "sandbox";
inline constexpr auto no_device = "no_device";

}  // namespace warplab::cause
