// Functions of the C library that access memory through pointers and that device code of CUDA does not have. nvcc
// refuses them in kernels; here, a kernel that calls one ends the process, because the sanitizer would not see what it
// accesses. Host code may call them.
//
// In a submission's object file, the judge renames all references to NAME to warplab_library_NAME. A stub of that name
// tests whether the thread runs a kernel. If it does not, the stub jumps to NAME, with all arguments still in their
// registers.

#include <string>

#include "grader/cpu/runtime/fault.h"
#include "grader/cpu/runtime/scheduler.h"

extern "C" [[noreturn, gnu::used]] void warplab_refuse_host_function(const char* name, const void* caller) {
    warplab_cpu::end_with_fault_at(caller, warplab::Fault::refused,
                                   std::string(name) + " is a host function, which device code cannot call");
}

#if defined(__x86_64__)
#define WARPLAB_STUB(name)                   \
    "cmpb $0, %fs:warplab_in_kernel@tpoff\n" \
    "jne 1f\n"                               \
    "jmp " #name                             \
    "@PLT\n"                                 \
    "1: leaq 2f(%rip), %rdi\n"               \
    "movq (%rsp), %rsi\n"                    \
    "jmp warplab_refuse_host_function\n"
#elif defined(__aarch64__)
#define WARPLAB_STUB(name)                                    \
    "mrs x16, tpidr_el0\n"                                    \
    "add x16, x16, #:tprel_hi12:warplab_in_kernel, lsl #12\n" \
    "add x16, x16, #:tprel_lo12_nc:warplab_in_kernel\n"       \
    "ldrb w16, [x16]\n"                                       \
    "cbnz w16, 1f\n"                                          \
    "b " #name                                                \
    "\n"                                                      \
    "1: adrp x0, 2f\n"                                        \
    "add x0, x0, :lo12:2f\n"                                  \
    "mov x1, x30\n"                                           \
    "b warplab_refuse_host_function\n"
#endif

// Weak, because older C libraries lack some of the functions.
#define WARPLAB_HOST(name)                                                                         \
    __asm__(".text\n.weak " #name "\n.globl warplab_library_" #name                                \
            "\n"                                                                                   \
            ".type warplab_library_" #name ", %function\nwarplab_library_" #name                   \
            ":\n" WARPLAB_STUB(name) ".size warplab_library_" #name ", . - warplab_library_" #name \
                                     "\n"                                                          \
                                     ".section .rodata\n2: .string \"" #name "\"\n.text\n");

#define WARPLAB_HOST_2(first, second) WARPLAB_HOST(first) WARPLAB_HOST(second)
#define WARPLAB_HOST_4(first, second, third, fourth) WARPLAB_HOST_2(first, second) WARPLAB_HOST_2(third, fourth)

// <string.h>, <strings.h>
WARPLAB_HOST_4(memccpy, memfrob, mempcpy, memmem)
WARPLAB_HOST_4(memrchr, rawmemchr, stpcpy, stpncpy)
WARPLAB_HOST_4(strcat, strncat, strcoll, strxfrm)
WARPLAB_HOST_4(strdup, strndup, strcspn, strspn)
WARPLAB_HOST_4(strpbrk, strstr, strtok, strtok_r)
WARPLAB_HOST_4(strsep, strcasecmp, strncasecmp, strcasestr)
WARPLAB_HOST_4(strchrnul, strverscmp, strnlen, strfry)
WARPLAB_HOST_4(bcopy, bzero, explicit_bzero, __strtok_r)
WARPLAB_HOST_4(index, rindex, swab, strlcpy)
WARPLAB_HOST_4(__memcpy_chk, __memmove_chk, __memset_chk, __mempcpy_chk)
WARPLAB_HOST_4(__strcpy_chk, __strncpy_chk, __strcat_chk, __strncat_chk)
WARPLAB_HOST_4(__stpcpy_chk, __mempcpy, __stpcpy, __memcmpeq)
// <stdlib.h>, <inttypes.h>
WARPLAB_HOST_4(atof, atoi, atol, atoll)
WARPLAB_HOST_4(strtod, strtof, strtold, strtol)
WARPLAB_HOST_4(strtoul, strtoll, strtoull, strtoimax)
WARPLAB_HOST_4(__isoc23_strtol, __isoc23_strtoul, __isoc23_strtoll, __isoc23_strtoull)
WARPLAB_HOST_4(qsort, qsort_r, bsearch, strtoumax)
WARPLAB_HOST_4(mblen, mbtowc, wctomb, mbstowcs)
WARPLAB_HOST_4(wcstombs, a64l, getsubopt, strfromd)
WARPLAB_HOST_4(lfind, lsearch, getenv, setenv)
WARPLAB_HOST_4(getrandom, arc4random_buf, rand_r, strfromf)
// <stdio.h>
WARPLAB_HOST_4(sprintf, snprintf, vsprintf, vsnprintf)
WARPLAB_HOST_4(fprintf, vfprintf, dprintf, vdprintf)
WARPLAB_HOST_4(asprintf, vasprintf, __sprintf_chk, __snprintf_chk)
WARPLAB_HOST_4(__printf_chk, __fprintf_chk, __vprintf_chk, perror)
WARPLAB_HOST_4(sscanf, vsscanf, __isoc99_sscanf, __isoc23_sscanf)
WARPLAB_HOST_4(fputs, fputs_unlocked, fwrite, fwrite_unlocked)
WARPLAB_HOST_4(fread, fread_unlocked, fgets, getline)
WARPLAB_HOST_4(fopen, fmemopen, open_memstream, setvbuf)
// <wchar.h>
WARPLAB_HOST_4(wmemcpy, wmemmove, wmemset, wmemcmp)
WARPLAB_HOST_4(wmemchr, wmempcpy, wcslen, wcsnlen)
WARPLAB_HOST_4(wcscpy, wcsncpy, wcscat, wcsncat)
WARPLAB_HOST_4(wcscmp, wcsncmp, wcschr, wcsrchr)
WARPLAB_HOST_4(wcsstr, wcsspn, wcscspn, wcspbrk)
WARPLAB_HOST_4(wcstol, wcstoul, wcstod, wcstof)
WARPLAB_HOST_4(mbrtowc, wcrtomb, mbsrtowcs, wcsrtombs)
WARPLAB_HOST_4(mbrlen, swprintf, vswprintf, swscanf)
// <unistd.h> and other system calls
WARPLAB_HOST_4(read, write, pread, pwrite)
WARPLAB_HOST_4(readv, writev, pread64, pwrite64)
WARPLAB_HOST_4(preadv, pwritev, vmsplice, syscall)
WARPLAB_HOST_4(send, recv, sendto, recvfrom)
WARPLAB_HOST_4(sendmsg, recvmsg, getcwd, readlink)
// <math.h>: long double and other extensions
WARPLAB_HOST_4(modfl, frexpl, remquol, sincosl)
WARPLAB_HOST_4(lgamma_r, lgammaf_r, lgammal_r, canonicalize)
WARPLAB_HOST_2(canonicalizef, canonicalizel)
