#pragma once
// Causes that do not depend on the lab. An oracle adds its own (tail_lost, not_cleared …).
namespace warplab::cause {

// compiling
inline constexpr auto missing_file = "missing_file";
inline constexpr auto empty_file = "empty_file";
inline constexpr auto compile_error = "compile_error";
inline constexpr auto refused_feature = "refused_feature";    // the CPU backend does not support it
inline constexpr auto missing_function = "missing_function";  // no contract function
inline constexpr auto wrong_signature = "wrong_signature";
inline constexpr auto own_main = "own_main";
inline constexpr auto reserved_symbol = "reserved_symbol";  // defines a name of the harness
inline constexpr auto compile_timeout = "compile_timeout";

// running
inline constexpr auto crash = "crash";
inline constexpr auto timeout = "timeout";
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
inline constexpr auto input_modified = "input_modified";
inline constexpr auto nan = "nan";
inline constexpr auto added_to_garbage = "added_to_garbage";  // += on an output that holds nothing yet
inline constexpr auto wrong_value = "wrong_value";
inline constexpr auto race = "race";  // same input, different output
inline constexpr auto return_before_barrier = "return_before_barrier";
inline constexpr auto kept_state = "kept_state";  // correct only in the first call

// measuring
inline constexpr auto implausible_timing = "implausible_timing";
inline constexpr auto timed_output_wrong = "timed_output_wrong";

// errors of the judge
inline constexpr auto internal = "internal";
inline constexpr auto sandbox = "sandbox";
inline constexpr auto no_device = "no_device";

}  // namespace warplab::cause
