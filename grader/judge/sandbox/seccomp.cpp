#include "grader/judge/sandbox/seccomp.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warplab::sandbox {
namespace {

#if defined(__x86_64__)
constexpr unsigned this_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned this_architecture = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned this_architecture = 0;
#endif

/// Refused with EPERM. sendmsg, recvmsg and their kin stay: they work on descriptors that the judge passed, and the
/// sockets that can be made reach nobody (see `allow_sockets_of_the_driver`).
constexpr unsigned refused[] = {
    // the network, and everything that talks to other processes
    SYS_connect, SYS_accept, SYS_accept4, SYS_shmget, SYS_shmat, SYS_shmctl,
    SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_semget, SYS_semop, SYS_semctl, SYS_semtimedop, SYS_mq_open,
    SYS_mq_unlink,
    // other processes' memory and descriptors
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_pidfd_getfd, SYS_process_madvise,
    // namespaces and mounts
    SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_open_tree, SYS_move_mount,
    SYS_fsopen, SYS_fsmount, SYS_fsconfig, SYS_fspick, SYS_name_to_handle_at, SYS_open_by_handle_at,
    // parts of the kernel with a history, which no student needs
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
    SYS_keyctl, SYS_add_key, SYS_request_key, SYS_kexec_load, SYS_init_module, SYS_finit_module, SYS_delete_module,
    SYS_swapon, SYS_swapoff, SYS_reboot, SYS_settimeofday, SYS_clock_settime, SYS_acct, SYS_quotactl, SYS_syslog};

constexpr unsigned namespace_flags =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

sock_filter statement(unsigned code, unsigned value) { return BPF_STMT(static_cast<unsigned short>(code), value); }
sock_filter jump(unsigned code, unsigned value, unsigned yes, unsigned no) {
    return BPF_JUMP(static_cast<unsigned short>(code), value, static_cast<unsigned char>(yes),
                    static_cast<unsigned char>(no));
}
sock_filter load(std::size_t offset) { return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset)); }
sock_filter answer(unsigned action) { return statement(BPF_RET | BPF_K, action); }

/// The driver makes a sequenced Unix socket with every context and listens on it. Such a socket sends only where it is
/// connected to, and connecting and accepting are refused.
void allow_sockets_of_the_driver(std::vector<sock_filter>& code) {
    constexpr unsigned without_flags = 0xf;
    code.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 7));
    code.push_back(load(offsetof(seccomp_data, args)));
    code.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 4));
    code.push_back(load(offsetof(seccomp_data, args) + sizeof(std::uint64_t)));
    code.push_back(statement(BPF_ALU | BPF_AND | BPF_K, without_flags));
    code.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, SOCK_SEQPACKET, 0, 1));
    code.push_back(answer(SECCOMP_RET_ALLOW));
    code.push_back(answer(SECCOMP_RET_ERRNO | EPERM));
}

std::vector<sock_filter> program() {
    std::vector<sock_filter> code = {load(offsetof(seccomp_data, arch)),
                                     jump(BPF_JMP | BPF_JEQ | BPF_K, this_architecture, 1, 0),
                                     answer(SECCOMP_RET_KILL_PROCESS),  // 32-bit calls on a 64-bit kernel
                                     load(offsetof(seccomp_data, nr))};
    const auto refuse_if = [&](unsigned comparison, unsigned value, unsigned error) {
        code.push_back(jump(BPF_JMP | comparison | BPF_K, value, 0, 1));
        code.push_back(answer(SECCOMP_RET_ERRNO | error));
    };
#if defined(__x86_64__)
    refuse_if(BPF_JGE, 0x40000000, ENOSYS);  // the x32 calls have numbers of their own
#endif
    for (unsigned number : refused) refuse_if(BPF_JEQ, number, EPERM);
    allow_sockets_of_the_driver(code);
    refuse_if(BPF_JEQ, SYS_clone3, ENOSYS);  // its flags lie in memory; callers fall back to clone
    code.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3));
    code.push_back(load(offsetof(seccomp_data, args)));
    code.push_back(jump(BPF_JMP | BPF_JSET | BPF_K, namespace_flags, 0, 1));
    code.push_back(answer(SECCOMP_RET_ERRNO | EPERM));
    code.push_back(answer(SECCOMP_RET_ALLOW));
    return code;
}

}  // namespace

const sock_fprog* seccomp_filter() {
    if (this_architecture == 0) return nullptr;
    static std::vector<sock_filter> code = program();
    static const sock_fprog filter{static_cast<unsigned short>(code.size()), code.data()};
    return &filter;
}

}  // namespace warplab::sandbox
