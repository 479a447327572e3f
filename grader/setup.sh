#!/bin/sh
# Finds missing packages. On Debian and Ubuntu, as root or with sudo, installs them and prints their names and purposes.
# Does nothing (and needs no network) if everything is installed.
#
#   sh grader/setup.sh build|demo|test      the packages for building, `make demo` or `make test`
#   sh grader/setup.sh python PURPOSE       checks for a Python that PURPOSE can use
#   sh grader/setup.sh venv                 the Python packages for plots, the journal and tests, in $VENV
#   sh grader/setup.sh course               additional packages for instructors
#   sh grader/setup.sh soak                 additional tools for `make soak`, which skips the parts whose tools are missing
#
# Exit status: 0 everything is there, 2 something necessary is missing (see stderr).

BUILD=${BUILD:-build}
VENV=${VENV:-.venv}
CXX=${CXX:-g++}
root=${WARPLAB_TEST_ROOT:-} # tests use system files below their own folder
log=$BUILD/setup.log

say() { printf '%s\n' "$@" >&2; }
fail() {
    say "$@"
    exit 2
}
has() { command -v "$1" >/dev/null 2>&1; }

has_header() {
    for folder in "$root/usr/include" "$root/usr/local/include"; do
        [ -e "$folder/$1" ] && return
    done
    # Only the compiler knows headers in other places (conda, spack, modules).
    [ -z "$root" ] && printf '#include <%s>\n' "$1" | "$CXX" -x c++ -E - >/dev/null 2>&1
}

missing= # packages; $reasons has a line for each
reasons=
need() { # PACKAGE WHY TEST…
    package=$1 why=$2
    shift 2
    "$@" && return
    missing="$missing $package"
    reasons="$reasons
  $package: $why"
}

find_missing() { # build|demo|test|soak
    need make "builds the judge" has make
    need g++ "compiles the judge and, without a GPU, your kernels" has "$CXX"
    need nlohmann-json3-dev "lab descriptions and reports (JSON)" has_header nlohmann/json.hpp
    need libcli11-dev "the judge's command line" has_header CLI/CLI.hpp
    need libfmt-dev "the judge's messages" has_header fmt/format.h
    need libssl-dev "hashes of sources and seeds" has_header openssl/evp.h
    need libseccomp-dev "the sandbox's filter of system calls" has_header seccomp.h
    need libstb-dev "reading and writing pictures" has_header stb/stb_image.h
    need python3 "writes the C++ types of the reports; the journal and make submit" has python3
    [ "$1" = build ] && return
    need bubblewrap "the sandbox that graded code runs in" has bwrap
    [ "$1" = demo ] && return
    need libgtest-dev "C++ tests" has_header gtest/gtest.h
    need libgmock-dev "C++ tests" has_header gmock/gmock.h
    need slurm-wlm "tests of grading on a cluster" has sinfo
    need munge "tests of grading on a cluster" has munge
    need python3-venv "keeps the test packages in $VENV" has_venv
    [ "$1" = test ] && return
    need g++-aarch64-linux-gnu "tests of the CPU backend for ARM" has aarch64-linux-gnu-g++
    need qemu-user "runs the tests for ARM on this machine" has qemu-aarch64
    need clang "fuzzing" has clang++
    need libclang-rt-dev "fuzzing, with sanitizers" has_fuzzer
    [ -n "${MOODLE:-}" ] || return 0
    need php-cli "runs the Moodle in $MOODLE" has php
    need mariadb-server "the database of Moodle" has mariadb-install-db
    for extension in mysql:mysqli xml:dom curl:curl zip:zip gd:gd intl:intl mbstring:mbstring soap:soap; do
        need "php-${extension%:*}" "Moodle" has_php "${extension#*:}"
    done
}

has_php() { php -r "exit(extension_loaded('$1') ? 0 : 1);" 2>/dev/null; }

has_venv() { [ -x "$VENV/bin/python" ] || python3 -c 'import ensurepip, venv' >/dev/null 2>&1; }

has_fuzzer() {
    printf 'extern "C" int LLVMFuzzerTestOneInput(const char *, unsigned long) { return 0; }' |
        clang++ -fsanitize=fuzzer,address -x c++ - -o /dev/null >/dev/null 2>&1
}

# Everything else works without these packages. A part whose package is missing prints a message.
optional=" bubblewrap python3-venv g++-aarch64-linux-gnu qemu-user slurm-wlm munge clang libclang-rt-dev php-cli mariadb-server \
php-mysql php-xml php-curl php-zip php-gd php-intl php-mbstring php-soap "

required_missing() {
    for package in $missing; do
        case $optional in *" $package "*) ;; *) printf ' %s' "$package" ;; esac
    done
}

check_writable() {
    case $BUILD in *[[:space:]]*) fail "BUILD=$BUILD: make cannot build in a folder with spaces. Choose another one." ;; esac
    mkdir -p "$BUILD" 2>/dev/null && [ -w "$BUILD" ] && return
    fail "Cannot write to the folder $BUILD in $(pwd): is this checkout read-only?" \
        "Try:  make BUILD=\$HOME/warplab-build WORK=\$HOME/warplab-work ${WARPLAB_VERB:-…}" \
        "(BUILD is where programs are built, WORK where your own files are.)"
}

check_compiler() {
    version=$("$CXX" -dumpfullversion 2>/dev/null || "$CXX" -dumpversion 2>/dev/null)
    case $version in
    '') fail "$CXX does not run: type  $CXX --version  to see why, or pick another:  make CXX=g++-12 …" ;;
    esac
    [ "${version%%.*}" -ge 12 ] 2>/dev/null && return
    fail "$CXX is version $version, and Warplab needs g++ 12 or newer (C++20)." \
        "Try:  apt-get install g++-12  (Ubuntu 22.04), or  module load gcc  on a cluster, then  make CXX=g++-12 …"
}

is_debian() { grep -qsE '^(ID|ID_LIKE)=.*(debian|ubuntu)' "$root/etc/os-release" && has apt-get; }

become_root= # the command that runs another command as root; empty for root
find_root() {
    [ "$(id -u)" = 0 ] && return
    has sudo || return
    become_root=sudo
    sudo -n true 2>/dev/null || [ -t 0 ]
}

apt() { $become_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1; }

install_missing() {
    say "These packages are missing on this machine:$reasons"
    by_hand="apt-get install --no-install-recommends$missing"
    is_debian || fail "This is not Debian or Ubuntu, so install these by hand (Debian's names above; other systems'" \
        "names are similar, e.g. json-devel, cli11-devel, fmt-devel, openssl-devel, libseccomp-devel on Fedora), then try again."
    find_root || {
        [ -z "$(required_missing)" ] && return
        fail "Installing needs root, and there is no sudo that works here. Ask the machine's administrator to type:" \
            "  $by_hand"
    }
    say "Installing: ${become_root:+$become_root }$by_hand   (a minute or so; log: $log)"
    : >"$log"
    # Package lists may be absent or old: refresh them only when the first try fails.
    apt install -y --no-install-recommends $missing ||
        { apt update && apt install -y --no-install-recommends $missing; } || explain_apt
}

explain_apt() {
    say "The installation failed; the last lines of $log:"
    grep -E '^(E|Err|W):?' "$log" | tail -n 4 | sed 's/^/  /' >&2
    required=$(required_missing)
    [ -z "$required" ] && say "Continuing without:$missing" && return
    fail "Still missing:$required. Without a network, ask the machine's administrator to install them; otherwise try:" \
        "  ${become_root:+$become_root }apt-get update && ${become_root:+$become_root }$by_hand"
}

# On Ubuntu 24.04, a program can create user namespaces only if an AppArmor profile allows it.
allow_bwrap() {
    restricted=$(cat "$root/proc/sys/kernel/apparmor_restrict_unprivileged_userns" 2>/dev/null)
    [ "$restricted" = 1 ] && has bwrap && ! [ -e "$root/etc/apparmor.d/bwrap" ] || return 0
    grep -qs '/usr/bin/bwrap' "$root"/etc/apparmor.d/* && return
    say "This Ubuntu forbids bwrap, the sandbox that graded code runs in; the profile /etc/apparmor.d/bwrap allows it."
    find_root || { say "Adding it needs root: sudo make setup. Until then, grading uses a weaker sandbox or refuses to run." && return; }
    $become_root tee "$root/etc/apparmor.d/bwrap" >/dev/null <<'END' && $become_root apparmor_parser -r "$root/etc/apparmor.d/bwrap"
abi <abi/4.0>,
include <tunables/global>

profile bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
  include if exists <local/bwrap>
}
END
}

check_python() { # PURPOSE [MINOR VERSION]
    minor=${2:-11}
    has python3 || fail "python3 is missing, but $1 needs it (3.$minor or newer). Try:  apt-get install python3"
    python3 -c "import sys; sys.exit(sys.version_info < (3, $minor))" 2>/dev/null && return
    fail "python3 is $(python3 -V 2>&1), and $1 needs 3.$minor or newer." \
        "Try:  module load python  on a cluster, or put a newer python3 first in PATH."
}

make_venv() { # PURPOSE REQUIREMENTS MARK
    check_python "this"
    say "Python packages for $1 go into $VENV (once)."
    { { [ -x "$VENV/bin/python" ] || python3 -m venv "$VENV"; } && "$VENV/bin/python" -m pip install -q \
        --disable-pip-version-check -r "$2"; } >"$log" 2>&1 && touch "$VENV/$3" && return
    tail -n 3 "$log" | sed 's/^/  /' >&2
    fail "The Python packages could not be installed (log: $log). Is there a network? Is python3-venv installed?" \
        "Only $1 need them; start, check, bench, grade and submit work without them."
}

case $1 in
build | demo | test | soak)
    check_writable
    find_missing "$1"
    [ -z "$missing" ] || install_missing
    check_compiler
    check_python building 9
    [ "$1" = build ] || allow_bwrap
    [ "$1" != soak ] || [ -e "$VENV/soak" ] || make_venv "fuzzing" tests/fuzz/requirements.txt soak
    ;;
python) check_python "${2:-this}" ;;
venv) check_writable && make_venv "plots, the journal and tests" grader/requirements.txt ready ;;
course) check_writable && make_venv "batches of submissions" grader/python/batch/requirements.txt course ;;
*) fail "usage: sh grader/setup.sh build|demo|test|soak|venv|course|python" ;;
esac
