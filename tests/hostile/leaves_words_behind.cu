// Cheat: stores text everywhere that another process might read it, and searches for text of the previous submission.
#include <fcntl.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

#include "labs/dot_product/lab.h"

constexpr key_t key = 0x57415250;

static void leave_file(const std::string& folder) {
    const std::string path = folder + "/warplab-words";
    std::puts(access(path.c_str(), F_OK) == 0 ? "REACHED" : "refused");
    close(open(path.c_str(), O_CREAT | O_WRONLY, 0666));
}

static void leave_shared_objects() {
    std::puts(shmget(key, 4096, 0) >= 0 || msgget(key, 0) >= 0 ? "REACHED" : "refused");
    shmget(key, 4096, IPC_CREAT | 0666);
    msgget(key, IPC_CREAT | 0666);
    std::puts(mq_open("/warplab-words", O_RDONLY) >= 0 ? "REACHED" : "refused");
    mq_open("/warplab-words", O_CREAT | O_RDONLY, 0666, nullptr);
}

static void leave_an_address() {
    sockaddr_un address{AF_UNIX, {}};
    std::memcpy(address.sun_path + 1, "warplab-words", 13);
    constexpr socklen_t bytes = offsetof(sockaddr_un, sun_path) + 14;
    const int line = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    std::puts(connect(line, reinterpret_cast<sockaddr*>(&address), bytes) == 0 ? "REACHED" : "refused");
    if (bind(line, reinterpret_cast<sockaddr*>(&address), bytes) == 0) listen(line, 1);
}

static void leave_times() {
    for (const char* file : {"/dev/null", "/dev/zero", "/var/tmp", "/run/lock", "@OUTSIDE@"})
        std::puts(utimensat(AT_FDCWD, file, nullptr, 0) == 0 ? "REACHED" : "refused");
    const int empty = open("/dev/null", O_WRONLY);
    std::puts(futimens(empty, nullptr) == 0 ? "REACHED" : "refused");
    close(empty);
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static bool done = false;
    if (!done) {
        done = true;
        for (const char* folder : {"/tmp", "/dev/shm", "/var/tmp", "/run", "/run/lock", "/var/lock", "/dev/mqueue",
                                   "/sys/fs/cgroup", "@BUILD@", "@OUTSIDE@"})
            leave_file(folder);
        leave_shared_objects();
        leave_an_address();
        leave_times();
    }
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
