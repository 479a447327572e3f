"""A real Slurm on this machine: a controller, three nodes and munge on loopback, in a separate folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "squeue", "sbatch", "scontrol")
NODES = ("n1", "n2", "n3")
CONFIGURATION = """
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/ctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
MpiDefault=none
SlurmdTimeout=6
KillWait=2
OverTimeLimit=0
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName=n[1-2] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{second}] CPUs=1 Gres=gpu:1 State=UNKNOWN
NodeName=n3 NodeHostname={host} NodeAddr=127.0.0.1 Port={third} CPUs=2 State=UNKNOWN
PartitionName=gpu Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
PartitionName=all Nodes=ALL MaxTime=INFINITE State=UP
"""


def find_obstacle() -> str:
    """Return the reason why Slurm cannot be started here; empty if it can."""
    if os.geteuid() != 0:
        return "only root can start Slurm's daemons"
    missing = [program for program in PROGRAMS if not find(program)]
    return f"not installed: {', '.join(missing)} (Debian: slurm-wlm, munge)" if missing else ""


def find(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


class Slurm:
    """A cluster that __enter__ starts and __exit__ stops. With `environment`, Slurm's commands use this cluster."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.host = socket.gethostname()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}

    def __enter__(self) -> Slurm:
        try:
            self.start_all()
        except BaseException:
            self.stop_all()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_all()

    def start_all(self) -> None:
        (self.folder / "state").mkdir(parents=True)
        self.folder.chmod(0o755)
        port, first, second, third = free_ports()
        text = CONFIGURATION.format(
            folder=self.folder, host=self.host, port=port, first=first, second=second, third=third
        )
        (self.folder / "slurm.conf").write_text(text)
        (self.folder / "gres.conf").write_text("NodeName=n[1-2] Name=gpu File=/dev/null\n")
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        names = {"socket": "socket", "key-file": "key", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        options = [f"--{option}={self.folder}/munge.{ending}" for option, ending in names.items()]
        self.start("munged", "munged", "--foreground", "--force", "--num-threads=1", *options)
        self.wait(lambda: (self.folder / "munge.socket").exists())
        self.start("slurmctld", "slurmctld", "-D", "-f", self.folder / "slurm.conf")
        for node in NODES:
            (self.folder / f"spool.{node}").mkdir()
            self.start(node, "slurmd", "-D", "-N", node, "-f", self.folder / "slurm.conf")
        self.wait(lambda: self.ask("sinfo", "-h", "-N", "-o", "%T").split().count("idle") >= len(NODES))

    def stop_all(self) -> None:
        for node in NODES:
            self.power_off(node)
        for process in self.processes.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def start(self, name: str, program: str, *arguments: str | Path) -> None:
        command = [str(find(program)), *map(str, arguments)]
        self.processes[name] = subprocess.Popen(
            command, env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=(self.folder / f"{name}.err").open("wb"), start_new_session=True,
        )  # fmt: skip

    def ask(self, *command: str) -> str:
        environment = {**os.environ, **self.environment}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30).stdout

    def wait(self, is_ready, seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not is_ready():
            if time.monotonic() > end:
                logs = [file.read_text(errors="replace")[-500:] for file in self.folder.glob("*.err")]
                raise RuntimeError(f"Slurm did not start: {logs} {self.ask('sinfo', '-N', '-l')}")
            time.sleep(0.1)

    def power_off(self, node: str) -> None:
        """Kill a node's daemon and all processes on it, as a power cut would."""
        process = self.processes.pop(node, None)
        if process:
            process.kill()
            process.wait()
        for environ in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                words = environ.read_bytes().split(b"\0")
                conf = f"SLURM_CONF={self.folder}/slurm.conf".encode()
                if f"SLURMD_NODENAME={node}".encode() in words and conf in words:
                    os.kill(int(environ.parent.name), signal.SIGKILL)

    def job_states_by_node(self) -> dict[str, str]:
        """Return each job's state by the node that it runs on."""
        lines = self.ask("squeue", "-h", "-r", "-o", "%N %T").splitlines()
        return dict(line.split(maxsplit=1) for line in lines if len(line.split()) == 2)


def free_ports() -> list[int]:
    """Return four consecutive free ports. CONFIGURATION needs consecutive ones for the first two nodes."""
    for first in range(20000 + os.getpid() % 5000 * 4, 64000, 4):
        ports = [first, first + 1, first + 2, first + 3]
        if all(is_free(port) for port in ports):
            return ports
    raise RuntimeError("no free ports")


def is_free(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) != 0
