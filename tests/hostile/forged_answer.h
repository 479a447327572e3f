#pragma once
// Code that several hand-ins here share; test_hostile.py replaces their #include with it.

#include <unistd.h>

#include <cstdint>
#include <thread>

struct Answer {  // as in grader/io/protocol.h and channel.h; says that a call has ended
    std::uint32_t kind = 0x57414e53, reserved = 0, magic = 0x57415250, version = 4, ask = 4, ok = 1;
    std::int32_t cuda_error = 0;
    std::uint32_t has_host = 0;
    std::uint64_t scratch_bytes = 0;
    double event_s = 1e-9, wall_s = 1e-9;
    std::uint64_t host_bytes = 0, launches = 1;
    std::int64_t leaked_bytes = 0;
    unsigned char observed[280] = {};
    char message[512] = {};
    std::uint64_t seal = 0;  // the submission does not know its key
};

/// Change every answer of the runner on its way to the judge, from now on.
inline void change_answers(void (*change)(Answer&)) {
    int ends[2];
    if (pipe(ends) != 0) return;
    std::thread([change, from = ends[0], to = dup(5)] {
        for (Answer answer; read(from, &answer, sizeof answer) == sizeof answer;) {
            change(answer);
            (void)!write(to, &answer, sizeof answer);
        }
    }).detach();
    dup2(ends[1], 5);
}
