#!/usr/bin/env python3
"""Run one program on a running confined daemon. Standard library only, Python 3.8 or newer.

    python3 examples/python/run.py PROGRAM_DIR ENTRY [INPUT_DIR [ARG...]]

Prints what the program printed. The exit code is the program's own when its
output can be credited to it; 125 when no program was started, 126 when the run
must not be credited to what was pinned, 127 when it is unknown. The socket is
$CONFINED_SOCKET, else ~/.confined/socket.
"""
import base64
import hashlib
import http.client
import json
import os
import pathlib
import signal
import socket
import sys
import time
import uuid

SOCKET = os.environ.get("CONFINED_SOCKET") or os.path.expanduser("~/.confined/socket")


class NothingStarted(Exception):
    """No process existed for this request: it may be sent again, changed or later."""


class Unknown(Exception):
    """A process may exist or have existed. Do not send the work again under another id."""


class Connection(http.client.HTTPConnection):
    """HTTP over the daemon's Unix socket. Without a timeout: an answer takes as
    long as the queue and timeoutMs allow, and giving up cancels the run."""

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(SOCKET)


def call(method, path, document=None):
    """One request on a connection of its own: status, headers, and the JSON of the answer."""
    connection = Connection("confined")
    try:
        connection.connect()
    except OSError as error:
        raise NothingStarted(f"no daemon listens on {SOCKET}: {error}")
    try:
        body = None if document is None else json.dumps(document).encode()
        connection.request(method, path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.headers, json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        problem = Unknown if method == "POST" else NothingStarted
        raise problem(f"{method} {path} was not answered whole: {error!r}")
    finally:
        connection.close()


def pin(path):
    """The digest that a request must quote, of GET /v1/runtime or /v1/profile."""
    status, _, answer = call("GET", path)
    if status != 200:
        raise NothingStarted(answer["detail"])
    return answer["digest"]


def tree(directory):
    """The files below a directory, {path: content}. Nothing else can be in a snapshot."""
    files = {}
    try:
        os.listdir(directory)  # rglob passes over a directory that is not there
        for path in pathlib.Path(directory).rglob("*"):
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                raise OSError(f"{path} is neither a file nor a directory: a snapshot cannot hold it")
            if path.is_file():
                files[path.relative_to(directory).as_posix()] = path.read_bytes()
    except OSError as error:
        raise NothingStarted(error)
    return files


def digest(files):
    """The digest of a snapshot, as docs/snapshot-digest.md has it."""
    version = 2 if any(c in path for path in files for c in "@+") else 1
    text = f"sf-confined-snapshot/{version}\n"
    for path, content in sorted(files.items()):
        text += f"{path}\t{len(content)}\t{hashlib.sha256(content).hexdigest()}\n"
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def snapshot(files):
    """Digest and files of one tree, as a request in JSON holds them."""
    return {"digest": digest(files), "files": [
        {"path": path, "content": {"encoding": "base64", "data": base64.b64encode(content).decode()}}
        for path, content in files.items()]}


def run(request, tries=5):
    """The result of one run. Only what was answered 429 or 503 is sent again: then no
    process existed. The id stays the same, so that even a mistake here starts one program."""
    for left in reversed(range(tries)):
        status, headers, answer = call("POST", "/v1/runs", request)
        if status == 200:
            return answer
        if status in (429, 503) and left:
            time.sleep(int(headers.get("Retry-After", 1)))
            continue
        message = f"{status} {answer['code']}: {answer['detail']}"
        for fault in answer.get("errors", []):
            message += f"\n  {fault['pointer']}: {fault['detail']}"
        # Of what is no 200, only a 4xx, and a 503, say that no process existed; and of those not
        # run-id-used: an earlier request had this id, and a process of that one may exist.
        if not (400 <= status < 500 or status == 503) or answer["code"] == "run-id-used":
            raise Unknown(message)
        raise NothingStarted(message)


def octets(value):
    """The bytes a program wrote: text where they are UTF-8, else base64."""
    return base64.b64decode(value["data"]) if value["encoding"] == "base64" else value["data"].encode()


def main(program, entry, input_dir=None, *args):
    result = run({
        "id": f"python-{uuid.uuid4()}",
        "runtime": pin("/v1/runtime"),
        "profile": pin("/v1/profile"),
        "program": {**snapshot(tree(program)), "entry": entry, "args": args},
        "input": snapshot(tree(input_dir) if input_dir else {}),
        "timeoutMs": 30_000, "maxOutputBytes": 1 << 20, "cpuSeconds": 30, "maxDescriptors": 256,
    })
    if result["status"] == "not-started":
        raise NothingStarted(f"{result['reason']}: {result['message']}")
    process = result["process"]
    sys.stdout.buffer.write(octets(process["stdout"]))
    sys.stderr.buffer.write(octets(process["stderr"]))
    if result["status"] != "observed":
        raise Unknown(f"{result['status']}: process {process['pid']} was not seen gone, it may still run")
    if not result["attributable"]:
        print("run.py: not attributable:", *(p["message"] for p in result["problems"]), file=sys.stderr)
        return 126
    end = process["exit"]
    if process["stopped"] or end["signal"]:
        print(f"run.py: stopped {process['stopped']}, signal {end['signal']}", file=sys.stderr)
    return 128 + getattr(signal, end["signal"], 0) if end["code"] is None else end["code"]


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        sys.exit(main(*sys.argv[1:]))
    except NothingStarted as error:
        print("run.py: no program was started:", error, file=sys.stderr)
        sys.exit(125)
    except Unknown as error:
        print("run.py: unknown:", error, file=sys.stderr)
        sys.exit(127)
