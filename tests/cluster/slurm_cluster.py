"""A Slurm cluster of one node on this machine, with daemons and a key of its own, for as long as a test takes."""
import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "sinfo")

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
CredType=cred/munge
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_min_interval=10000,batch_sched_delay=0,sched_interval=1
KillWait=10
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing_programs():
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    return [name for name in PROGRAMS if shutil.which(name, path=path) is None]


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class SlurmCluster:
    """Use with `with`; `environment` is for the commands of its users."""

    def __init__(self, directory):
        self.directory = directory  # short: a socket's path is limited
        self.daemons = []
        self.environment = dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin",
                                SLURM_CONF=os.path.join(directory, "slurm.conf"))

    def __enter__(self):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # see steps()
        ports = free_ports(2)
        for name in ("state", "spool"):
            os.makedirs(os.path.join(self.directory, name))
        with open(self.environment["SLURM_CONF"], "w") as file:
            file.write(CONFIGURATION.format(host=socket.gethostname().split(".")[0], user=pwd.getpwuid(os.geteuid()).pw_name,
                                            directory=self.directory, controller_port=ports[0], node_port=ports[1]))
        key = os.path.join(self.directory, "munge.key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(os.urandom(128))
        try:
            self.start("munged", "--foreground", "--force", "--key-file=" + key, *(
                f"--{name}={self.directory}/munge.{ending}"
                for name, ending in (("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))))
            self.wait_for(lambda: os.path.exists(os.path.join(self.directory, "munge.socket")), "munged")
            self.start("slurmctld", "-D", "-i")
            self.start("slurmd", "-D")
            self.wait_for(lambda: "idle" in self.run("sinfo", "-h", "-o", "%T", check=False).stdout, "an idle node")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        end = time.monotonic() + 10
        while self.steps() and time.monotonic() < end:
            time.sleep(0.1)
        for step in self.steps():
            os.kill(step, signal.SIGKILL)
        for daemon in reversed(self.daemons):
            daemon.kill()  # they have nothing to save
            daemon.wait()

    def steps(self):
        """The processes that look after the steps of its jobs: they leave the daemons, and come to this process."""
        found = []
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{process}/stat") as file:
                    name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
            except OSError:
                continue  # it has ended
            state, parent = rest.split()[:2]
            if name == "slurmstepd" and state != "Z" and int(parent) == os.getpid():
                found.append(int(process))
        return found

    def start(self, *command):
        with open(os.path.join(self.directory, command[0] + ".out"), "w") as out:
            self.daemons.append(subprocess.Popen(command, env=self.environment, stdout=out, stderr=out, stdin=subprocess.DEVNULL))

    def wait_for(self, condition, what, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            dead = [daemon.args[0] for daemon in self.daemons if daemon.poll() is not None]
            if dead or time.monotonic() > end:
                raise RuntimeError(f"no {what}; ended: {dead}\n{self.logs()}")
            time.sleep(0.1)

    def logs(self):
        text = ""
        for name in sorted(os.listdir(self.directory)):
            if name.endswith((".log", ".out")):
                with open(os.path.join(self.directory, name), errors="replace") as file:
                    text += f"--- {name}\n" + "".join(file.readlines()[-15:])
        return text

    def run(self, *command, check=True, **options):
        return subprocess.run(command, env=self.environment, check=check, capture_output=True, text=True, **options)

    def wait_for_jobs(self, seconds=120):
        """Until no job is left."""
        end = time.monotonic() + seconds
        while self.run("squeue", "-h", check=False).stdout.strip():
            if time.monotonic() > end:
                raise RuntimeError("jobs do not end\n" + self.run("squeue").stdout + self.logs())
            time.sleep(0.2)
