// Package client runs programs on a confined daemon of this machine.
//
// A job is a program and an input, each a [Tree] of files in memory, with
// arguments and [Bounds]. [Client.Run] sends it over the daemon's Unix socket,
// waits, and returns a [Result] that has been checked: its bytes are whole, and
// what ran is what was asked for. [Client.Stream] does the same and tells of the
// output as it arrives.
//
//	program, err := client.ReadTree("program", "node_modules/.cache", "*.map")
//	if err != nil {
//		return err // lists every link and unfit path at once
//	}
//	c := client.New(socket)
//	result, err := c.Run(ctx, client.Job{Program: program, Entry: "main.mjs"})
//
// # Reading a result
//
// How a program fares is never an error. A result says one of three things, and
// each has less to tell than the one before:
//
//   - Observed: the process is gone, and the facts in it are what the host saw.
//     Attributable says whether the output may be credited to the program, input
//     and runtime that were pinned; if not, Problems says why. A crash, a stop at
//     a bound or a signal is a fact and no problem: see the Exit and Stopped of
//     [Result.Process]. Output was cut exactly when OutputBytes exceeds the bound.
//   - NotStarted: no process existed. Reason says why, Message the cure.
//   - Unresolved: the process was not confirmed gone, and may still be running.
//
// [Result.ExitCode] is the short way for a caller that wants the exit code of a
// run it may trust, and nothing else. Raw holds the bytes of the result as the
// daemon froze them, to be kept as evidence.
//
// # Errors, and when to try again
//
// An error of Run or Stream is one of these:
//
//   - [*NoDaemonError]: nobody listens on the socket.
//   - [*NotSentError]: the job was not handed over whole, so it was not looked at.
//   - [*ProblemError]: the daemon refused, and its Problem says why: a full queue,
//     say, or every fault of an invalid request.
//   - [*UnknownError]: the job was sent, and what became of it is unknown. The
//     connection was cut, the context ended, the daemon failed, or the answer is
//     not sound.
//
// [StartedNothing] is the whole retry rule. It holds of the first three: no
// process existed, and the job may be sent again when the cause is gone, with the
// same ID. It does not hold of an UnknownError: the program may have run, or may be
// running. The package itself repeats nothing, on no level; each call of Run is
// at most one request for a run.
//
//	for {
//		result, err := c.Run(ctx, job)
//		var problem *client.ProblemError
//		if !errors.As(err, &problem) || problem.RetryAfter == 0 {
//			return result, err
//		}
//		time.Sleep(problem.RetryAfter) // 429 or 503: nothing was started
//	}
//
// # Stopping a run
//
// When the context ends, the connection is closed, which cancels the run at any
// stage. That is the way to be rid of a run; since nobody reads its result, what
// came of it is an UnknownError. To stop a run and learn how it ended, give the
// Job an ID, call [Client.Cancel] with it from another goroutine, and let Run
// return.
//
// # Pins
//
// A run starts only on the runtime and the profile that it quotes. A Job without
// Pins takes what the daemon says at that moment: right for a first look. For
// runs that must be comparable, read them once with [Client.Pins], keep them, and
// set them in each Job. After an update of Node, of the kernel or of confined
// such a run is not started, with the reason runtime-mismatch or
// profile-mismatch, instead of running on something else.
package client
