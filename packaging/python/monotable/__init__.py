"""Starts monotable, a database with DynamoDB's API, from Python.

    with monotable.start(memory=True) as server:
        client = boto3.client("dynamodb", **server.client_config)
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from typing import Any, Iterable, Mapping, Optional, Sequence

__all__ = ["Server", "binary_path", "create_tables", "main", "provision", "start"]

_REGION = "us-east-1"
_KEY = "monotable"
_START_TIMEOUT = 60.0


def binary_path() -> str:
    """The path of the binary: MONOTABLE_BINARY, or the one in this package."""
    if os.environ.get("MONOTABLE_BINARY"):
        return os.environ["MONOTABLE_BINARY"]
    name = "monotable.exe" if sys.platform == "win32" else "monotable"
    path = pathlib.Path(__file__).parent / "bin" / name
    if not path.exists():
        raise FileNotFoundError(f"{path}: this package has no binary for this platform; set MONOTABLE_BINARY to the path of one")
    return str(path)


class Server:
    """A running server. It stops with stop(), at the end of a with block, or when this process ends for any reason."""

    def __init__(self, process: "subprocess.Popen[str]", endpoint: str) -> None:
        self._process = process
        self.endpoint = endpoint

    @property
    def client_config(self) -> dict[str, Any]:
        """Keyword arguments of boto3.client and boto3.resource."""
        return {"endpoint_url": self.endpoint, "region_name": _REGION, "aws_access_key_id": _KEY, "aws_secret_access_key": _KEY}

    def stop(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start(*, memory: bool = False, data: Optional[str] = None, args: Sequence[str] = (), timeout: float = _START_TIMEOUT) -> Server:
    """Starts a server on a free port of 127.0.0.1, with its data in memory or in a directory."""
    if memory == (data is not None):
        raise TypeError("start: pass either memory=True or data=DIRECTORY")
    place = ["--memory"] if memory else ["--data", str(data)]
    process = subprocess.Popen(
        [binary_path(), "serve", *place, "--addr", "127.0.0.1:0", "--until-stdin-closes", "--log-level", "warn", *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    timer = threading.Timer(timeout, process.kill)
    timer.start()
    try:
        for line in process.stdout:
            found = re.search(r"DynamoDB API at (http://\S+)", line)
            if found:
                threading.Thread(target=_drain, args=(process,), daemon=True).start()
                return Server(process, found[1])
    finally:
        timer.cancel()
    raise RuntimeError(f"monotable exited (status {process.wait()}) before it started listening; its log is on standard error")


def _drain(process: "subprocess.Popen[str]") -> None:
    assert process.stdout is not None
    try:
        for _ in process.stdout:
            pass
    except ValueError:
        pass  # closed by stop


def create_tables(endpoint: str, tables: Iterable[Mapping[str, Any]]) -> None:
    """Creates tables; each is an input of CreateTable."""
    for table in tables:
        request = urllib.request.Request(
            endpoint,
            data=json.dumps(table).encode(),
            headers={"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810.CreateTable"},
        )
        try:
            urllib.request.urlopen(request).close()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"CreateTable {table.get('TableName')}: {error.code} {error.read().decode()}") from None


def provision(endpoint: str, design: str, values: Optional[Mapping[str, str]] = None) -> None:
    """Creates the tables of a design file. values has the values of placeholders in table names."""
    settings = [text for name, value in (values or {}).items() for text in ("--set", f"{name}={value}")]
    environment = {**os.environ, "AWS_ACCESS_KEY_ID": _KEY, "AWS_SECRET_ACCESS_KEY": _KEY, "AWS_REGION": _REGION}
    done = subprocess.run(
        [binary_path(), "provision", str(design), "--apply", "--endpoint", endpoint, *settings], env=environment, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())


def main() -> None:
    """Runs the monotable command."""
    program = binary_path()
    if sys.platform == "win32":
        sys.exit(subprocess.call([program, *sys.argv[1:]]))
    os.execv(program, [program, *sys.argv[1:]])
