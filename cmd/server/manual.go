package main

// manual is what the help of a command says above its flags.
func manual(command string) string {
	switch command {
	case "run":
		return runManual
	case "digest":
		return `confined digest [flags] DIR

Prints the digest that a request pins for the files in DIR, as POST /v1/snapshots
computes it; no daemon is needed. Symbolic links and special files are refused.
`
	case "pins":
		return `confined pins [flags]

Prints a lock file: the digests of runtime and profile that a request pins, and
what they were computed from. Keep it beside your programs:

  confined pins > pins.json
  confined run --pins pins.json DIR
  confined pins --diff pins.json

With --diff it says in words what has changed since: Node, a library, a link, the
launcher, only the operating system, or the profile. It then exits with 0 where
the pins are the same, with 1 where they differ, and with 125 where it cannot tell.
`
	case "prove":
		return proveManual
	case "slots":
		return `confined slots [flags]
confined slots release [flags] NAME

Lists every slot and every other entry of the root. What is quarantined or left
over is never removed automatically; release removes it.
`
	case "slots release":
		return `confined slots release [flags] NAME

Shows what is in a slot, asks, and removes exactly what was shown; a slot that
changed meanwhile, or that a process still uses, stays. It exits with 0 when the
slot is removed, and with 1 when it is not.
`
	}
	return "confined " + command + " [flags]\n"
}

const runManual = `confined run [flags] DIR [-- ARGUMENT...]
confined run [flags] -   [-- ARGUMENT...]

Sends the files in DIR to the daemon as one program, runs it once, and passes its
output on as it comes. With - the program is one file, read from stdin; it is
called main.mjs, or what --entry says. The last line on stderr says what the
daemon observed. Nothing is ever sent twice.

Exit codes:
  the program's own, or 128 and the number of the signal that ended it: only of a
       run that was observed and is attributable
  125  no run: no process existed. Also for a mistake in the command line
  126  a run that must not be credited to what was pinned, or whose output could
       not be written whole to where it was to go
  127  unknown: a process may exist, or have existed
A program can exit with these too. What tells them apart is --json: it prints the
result as the daemon froze it, byte for byte (and a newline on a terminal), or
the problem where there was no run.

Output that is not to a terminal is passed on verbatim. On a terminal control
characters are spelt out, as ^[; --raw lets them through. A reader of stdout that
goes away, as head does, neither ends the run nor changes the exit code: the rest
is dropped, and a line on stderr says so.

SIGINT and SIGTERM stop the run and wait for its result; a second one leaves at
once, with 127. Whether bounds are in range is for the daemon to judge.
`

const proveManual = `confined prove [flags]

Tries everything the boundary must deny, and what it must allow, with this Node, on
this host, as this user: each act confined and, where that harms nothing, unconfined
too, with the evidence seen from outside. Prints the table and, where every row is as
it must be, writes a receipt into --state/receipts: a file of its own, never changed
and never removed by confined. serve and doctor with the same --state go by it at
once. It is about one machine, user, Node, set of libraries, kernel and build of
confined: when one of them changes, run it again. No daemon is needed, and one that
runs is not disturbed. Parts of the suite are in C and need a compiler, cc; on macOS
Apple's clang, and otool, which tells the libraries of Node a second time.

Unconfined means that this Node runs with nothing around it: as the user of a run,
and for some rows as the user who calls this, root too. Prove only a Node that you
would run yourself. Of many rows only the program can tell what came of it: a Node
made to deceive could get a receipt.

In the table "by" is who acts: js, a program in JavaScript; native, one in C; look,
nobody: the host looks at the live process. Unconfined an act took place, or a look
found less ("weaker"); "not done": it was not tried, for a reason that is counted at
the end. Confined is the code that the program was told; "nothing": no error says so,
but what it looks for is not there; of a look "as promised". The evidence is what the
host judges by; " is the same as above. --json and the receipt say NONE for "nothing",
and "denied" for a look that "holds".

Nothing is left. Killed (kill -9) it leaves no program running (on macOS some sleep
for up to five minutes), but files: prove-* in --state, and confined-prove-* in TMPDIR,
/tmp and /dev/shm. The next prove with the same --state removes them.

Exit codes:
  0  it passed and the receipt is written, or --if-needed and it was not needed
  1  a row failed: the boundary does not hold; or one could not be shown, since what
     it tries was refused unconfined too, or was not tried for want of a compiler (no
     receipt is written in either case); or this host cannot have the boundary, or it
     was interrupted
  2  a mistake in the command line

--if-needed asks first what serve with the same --node, --state and --require-receipt
would say of this Node, and does nothing where it would be admitted: by a receipt,
or, without --require-receipt, by an entry built into this release. It suits a service:
  ExecStartPre=/usr/bin/confined prove --if-needed

--json prints one document: "verdict" (passed, failed, not-shown, untried,
not-needed), with "receiptFile" and "receiptDigest" where there is one, and the whole
"receipt". Where there is no verdict nothing is on stdout: stderr says why.
`
