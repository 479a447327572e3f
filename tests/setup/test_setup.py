"""grader/setup.sh on incomplete machines: one clear message, the right status, and nothing is installed twice."""

from __future__ import annotations

import os

import pytest

INSTALLER = 'echo "$@" >>"$HOME/asked"; case "$*" in *install*) {};; esac'


@pytest.fixture
def setup(machine, checkout):
    folder = checkout()
    return lambda *words, **variables: machine.run("sh", "grader/setup.sh", *words, cwd=folder, **variables)


@pytest.fixture(autouse=True)
def working_sudo(machine):
    machine.add_program("sudo", '[ "$1" = -n ] && shift; exec "$@"')


@pytest.mark.parametrize("target", ["build", "demo", "test"])
def test_the_setup_prints_nothing_if_nothing_is_missing(setup, target):
    output = setup(target)
    assert (output.status, output.out) == (0, "")


def test_missing_packages_are_installed_with_a_reason(machine, setup):
    machine.remove_header("fmt/format.h")
    machine.add_program(
        "apt-get", INSTALLER.format('mkdir -p "$HOME/usr/include/fmt"; >"$HOME/usr/include/fmt/format.h"')
    )
    output = setup("build")
    assert output.status == 0
    assert output.has("libfmt-dev: the judge's messages", "Installing:", "libfmt-dev")
    requests = (machine.root / "asked").read_text()
    assert "install -y" in requests and "libfmt-dev" in requests and "nlohmann" not in requests
    assert setup("build").out == ""


def test_package_lists_are_refreshed_only_if_the_first_try_fails(machine, setup):
    machine.remove_header("fmt/format.h")
    machine.add_program(
        "apt-get",
        'echo "$@" >>"$HOME/asked"; case "$*" in *update*) >"$HOME/updated";; *) [ -e "$HOME/updated" ];; esac',
    )
    assert setup("build").status == 0
    verbs = [line.split()[3] for line in (machine.root / "asked").read_text().splitlines()]
    assert verbs == ["install", "update", "install"]


def test_php_and_a_database_are_installed_only_for_moodle(machine, setup):
    machine.remove_programs("php", "mariadb-install-db")
    (machine.root / "venv").mkdir()
    (machine.root / "venv/soak").touch()
    assert "php" not in setup("soak", VENV=str(machine.root / "venv")).out
    output = setup("soak", VENV=str(machine.root / "venv"), MOODLE="/srv/moodle")
    assert output.status == 0
    assert output.has(
        "php-cli: runs the Moodle in /srv/moodle", "mariadb-server: the database of Moodle", "Continuing without:"
    )


def test_without_a_network_the_setup_stops_with_a_message(machine, setup):
    machine.remove_header("fmt/format.h")
    machine.add_program("apt-get", 'echo "E: Unable to fetch some archives" >&2; exit 100')
    output = setup("build")
    assert output.status == 2
    assert output.has("Unable to fetch", "Still missing: libfmt-dev", "Without a network", "apt-get update")


def test_without_a_network_and_a_sandbox_the_setup_continues(machine, setup):
    machine.remove_programs("bwrap")
    output = setup("demo")
    assert output.status == 0
    assert output.has("Continuing without: bubblewrap")


def test_without_root_and_sudo_the_setup_says_what_to_install(machine, setup):
    machine.remove_header("CLI/CLI.hpp")
    machine.remove_programs("sudo")
    machine.add_program("id", "echo 1000")
    output = setup("build")
    assert output.status == 2
    assert output.has("libcli11-dev: the judge's command line", "needs root", "apt-get install")


def test_on_another_system_the_setup_says_what_to_install(machine, setup):
    machine.remove_header("CLI/CLI.hpp")
    (machine.root / "etc/os-release").write_text("ID=fedora\n")
    output = setup("build")
    assert output.status == 2
    assert output.has("not Debian or Ubuntu", "libcli11-dev")


def test_without_a_compiler_the_setup_says_so(machine, setup):
    machine.remove_programs("g++*")
    output = setup("build")
    assert output.status == 2
    assert output.has("g++: compiles the judge", "Still missing: g++")


def test_an_old_compiler_is_refused(machine, setup):
    machine.add_program("g++", "echo 11.4.0")
    output = setup("build")
    assert output.status == 2
    assert output.has("g++ is version 11.4.0", "12 or newer", "make CXX=g++-12")


def test_a_broken_compiler_is_refused(machine, setup):
    machine.add_program("g++", "exit 127")
    output = setup("build")
    assert output.status == 2
    assert output.has("g++ does not run")


def test_another_compiler_can_be_chosen(machine, setup):
    machine.add_program("g++", "echo 11.4.0")
    machine.add_program("g++-13", "echo 13.2.0")
    assert setup("build", CXX="g++-13").status == 0


def test_without_python_the_setup_says_so(machine, setup):
    machine.remove_programs("python*")
    output = setup("python", "make submit")
    assert output.status == 2
    assert output.has("python3 is missing", "make submit")
    machine.add_program("apt-get", "exit 100")
    output = setup("build")
    assert output.status == 2
    assert output.has("python3: writes the C++ types", "Still missing: python3")


def test_an_old_python_is_refused(machine, setup):
    machine.add_program("python3", 'case "$1" in -V) echo Python 3.9.2;; *) exit 1;; esac')
    output = setup("python", "make submit")
    assert output.status == 2
    assert output.has("Python 3.9.2", "3.11 or newer")
    output = setup("build")
    assert output.status == 2
    assert output.has("building needs 3.9 or newer")


def test_python_packages_need_a_network(setup):
    nowhere = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull}
    output = setup("venv", **nowhere)
    assert output.status == 2
    assert output.has("could not be installed", "Is there a network?", "work without them")


def test_ubuntus_apparmor_gets_a_profile_for_bwrap_once(machine, setup):
    restriction = machine.root / "proc/sys/kernel/apparmor_restrict_unprivileged_userns"
    restriction.parent.mkdir(parents=True)
    restriction.write_text("1\n")
    machine.add_program("apparmor_parser", 'echo "$@" >>"$HOME/parsed"')
    output = setup("demo")
    assert output.status == 0
    assert output.has("forbids bwrap", "/etc/apparmor.d/bwrap")
    assert "userns," in (machine.root / "etc/apparmor.d/bwrap").read_text()
    assert setup("demo").out == ""
    assert len((machine.root / "parsed").read_text().splitlines()) == 1


def test_apparmor_gets_no_profile_if_it_restricts_nothing(machine, setup):
    restriction = machine.root / "proc/sys/kernel/apparmor_restrict_unprivileged_userns"
    restriction.parent.mkdir(parents=True)
    restriction.write_text("0\n")
    assert setup("demo").out == ""
    assert not (machine.root / "etc/apparmor.d/bwrap").exists()
