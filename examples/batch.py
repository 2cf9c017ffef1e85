#!/usr/bin/env python3
"""Run one program once for each of many inputs on a running confined daemon.
Standard library only, Python 3.8 or newer.

    python3 examples/batch.py [--runs 500] [--connections 16] [--results batch.jsonl] [INPUT_FILE...]

Without files it makes --runs texts of its own. Each line of the results file is
one answer. Start it again with the same file, after Ctrl-C for
instance, and it goes on: what has a result there is not sent again. What was
sent and has no result there is never started a second time either, since its id
comes from the input: the daemon answers run-id-used, unless it was restarted or
has started 10,000 other runs since.

The exit code is 0 when every input has a result with exit code 0, 1 when a
program failed, 125 when some input did not run, 126 when a run must not be
credited to what was pinned, 127 when something is unknown: the highest of these.
"""
import argparse
import base64
import collections
import concurrent.futures
import hashlib
import http.client
import json
import os
import re
import socket
import sys
import threading
import time

SOCKET = os.environ.get("CONFINED_SOCKET") or os.path.expanduser("~/.confined/socket")
PROGRAM = {"main.mjs": b"""
import { readdirSync, readFileSync } from 'node:fs';
const [name] = readdirSync('.'); // the working directory is the input
const words = readFileSync(name, 'utf8').split(/\\s+/).filter(Boolean);
console.log(JSON.stringify({ name, words: words.length }));
"""}
BOUNDS = {"timeoutMs": 10_000, "maxOutputBytes": 65_536, "cpuSeconds": 5, "maxDescriptors": 64}
PATIENCE = 600  # seconds for which one input asks again for its place in the queue

# What can become of an input, and the exit code that tells of it.
OUTCOMES = {"ok": 0, "failed": 1, "refused": 125, "not-started": 125, "not-attributable": 126, "used": 127, "unknown": 127}

stopping = threading.Event()  # set by Ctrl-C: what was sent is still waited for
waited = collections.Counter()  # 429 and 503, as they were answered
lock = threading.Lock()  # for both of them and the results file


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(SOCKET)


class Cut(Exception):
    """No whole answer came: whether a process existed is unknown."""


def call(method, path, document=None):
    """Status, headers and JSON of one answer. Each request has a connection of its own: a kept
    one may be closed just when it is used again, which looks like a run that was cut off."""
    connection = Connection("confined")
    try:
        connection.connect()
    except OSError as error:  # before anything was sent
        raise OSError(f"no daemon listens on {SOCKET}: {error}")
    try:
        body = None if document is None else json.dumps(document).encode()
        connection.request(method, path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.headers, json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Cut(repr(error))
    finally:
        connection.close()


def snapshot(files):
    """Digest (docs/snapshot-digest.md) and files of one tree, as a request in JSON holds them."""
    version = 2 if any(c in path for path in files for c in "@+") else 1
    text = f"sf-confined-snapshot/{version}\n"
    for path, content in sorted(files.items()):
        text += f"{path}\t{len(content)}\t{hashlib.sha256(content).hexdigest()}\n"
    return {"digest": "sha256:" + hashlib.sha256(text.encode()).hexdigest(), "files": [
        {"path": path, "content": {"encoding": "base64", "data": base64.b64encode(content).decode()}}
        for path, content in files.items()]}


def run_id(name, program, data):
    """The same for the same input to the same program, and for nothing else."""
    both = hashlib.sha256((program["digest"] + data["digest"]).encode()).hexdigest()
    return "batch-" + re.sub("[^A-Za-z0-9._-]", "_", name)[:40] + "-" + both[:16]


def judge(result):
    """What a result says, and no more than that."""
    if result["status"] == "not-started":
        return "not-started"
    if result["status"] != "observed":
        return "unknown"
    if not result["attributable"]:
        return "not-attributable"
    return "ok" if result["process"]["exit"]["code"] == 0 else "failed"


def submit(request):
    """Outcome and answer of one request. It is sent again only where the answer was 429 or
    503, which say that no process existed, and only as late as Retry-After says."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            status, headers, answer = call("POST", "/v1/runs", request)
        except Cut as cut:
            return "unknown", str(cut)
        except OSError as error:
            return "refused", str(error)
        if status == 200:
            return judge(answer), answer
        if status not in (429, 503) or time.monotonic() > deadline or stopping.is_set():
            break
        with lock:
            waited[status] += 1
        stopping.wait(int(headers.get("Retry-After", 1)))
    if answer["code"] == "run-id-used":  # it waits, runs or ran, by an earlier request
        return "used", answer
    # Of what is no 200, only a 4xx, and a 503, say that no process existed.
    return ("refused" if 400 <= status < 500 or status == 503 else "unknown"), answer


def earlier(file, pins):
    """What the results file knows already: {id: outcome} of the inputs that ran with these pins."""
    file.seek(0)
    lines = file.read()
    if lines and not lines.endswith("\n"):
        file.write("\n")  # the last line was cut short
    known = {}
    for line in lines.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry["outcome"] in ("ok", "failed") and entry["answer"]["identities"]["runtime"] == pins["runtime"]:
            known[entry["id"]] = entry["outcome"]
    return known


def batch(inputs, connections, file):
    """Run all inputs, {name: content}, and write each answer down. The outcomes come back."""
    pins = {}
    for pin in ("runtime", "profile"):
        status, _, answer = call("GET", f"/v1/{pin}")
        if status != 200:
            raise OSError(answer["detail"])
        pins[pin] = answer["digest"]
    program, known = snapshot(PROGRAM), earlier(file, pins)

    def one(name, content):
        data = snapshot({name: content})
        id = run_id(name, program, data)
        if id in known:
            return known[id]
        if stopping.is_set():
            return "refused"
        outcome, answer = submit(
            {"id": id, **pins, "program": {**program, "entry": "main.mjs"}, "input": data, **BOUNDS})
        with lock:
            file.write(json.dumps({"id": id, "input": name, "outcome": outcome, "answer": answer}) + "\n")
            file.flush()
        return outcome

    with concurrent.futures.ThreadPoolExecutor(connections) as pool:
        sent = [pool.submit(one, name, content) for name, content in inputs.items()]
        try:
            concurrent.futures.wait(sent)
        except KeyboardInterrupt:
            stopping.set()
        return collections.Counter(future.result() for future in sent)


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--runs", type=int, default=500)
    flags.add_argument("--connections", type=int, default=16)
    flags.add_argument("--results", default="batch.jsonl")
    flags.add_argument("files", nargs="*", metavar="INPUT_FILE")
    given = flags.parse_args()
    inputs = {f"text-{n:04}.txt": b"word " * n for n in range(given.runs)}
    if given.files:
        inputs = {}
        for path in given.files:
            name = os.path.basename(path)
            if name in inputs:
                raise OSError(f"two inputs are named {name}")
            with open(path, "rb") as file:
                inputs[name] = file.read()
    began = time.monotonic()
    with open(given.results, "a+", encoding="utf-8") as file:
        outcomes = batch(inputs, given.connections, file)
    for outcome in OUTCOMES:
        print(f"{outcome:17}{outcomes[outcome]:6}")
    print(f"{sum(outcomes.values())} inputs in {time.monotonic() - began:.1f} s,"
          f" {waited[429]} answers of 429 and {waited[503]} of 503 waited out")
    return max(OUTCOMES[outcome] for outcome in outcomes) if outcomes else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, Cut) as error:  # the runs handle their own: this came before the first
        print(f"batch.py: nothing was run: {error}", file=sys.stderr)
        sys.exit(125)
