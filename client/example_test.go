package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"confined/client"
	"confined/client/api"
)

// One program, from its directory to its exit code.
func Example() {
	socket, err := client.DefaultSocket()
	if err != nil {
		log.Fatal(err)
	}
	program, err := client.ReadTree("examples/hello/program")
	if err != nil {
		log.Fatal(err)
	}
	input, err := client.ReadTree("examples/hello/input")
	if err != nil {
		log.Fatal(err)
	}
	result, err := client.New(socket).Run(context.Background(), client.Job{
		Program: program, Entry: "main.mjs", Input: input,
		Bounds: client.Bounds{TimeoutMs: 10_000, CPUSeconds: 5, MaxOutputBytes: 64 << 10, MaxDescriptors: 64},
	})
	if err != nil {
		log.Fatal(err)
	}
	if code, ok := result.ExitCode(); ok {
		fmt.Printf("it printed %q and exited with %d\n", result.Stdout(), code)
	} else {
		fmt.Printf("%s: %s\n", result.Status(), result.Raw)
	}
}

// Many runs of one program, each with its pins, an id of the caller's, and the
// retry rule.
func ExampleClient_Run() {
	ctx, c := context.Background(), client.New("/run/user/1000/confined/socket")
	pins, err := c.Pins(ctx)
	if err != nil {
		log.Fatal(err)
	}
	program, err := client.NewTree(client.File{Path: "main.mjs", Content: []byte("console.log(process.argv[2])")})
	if err != nil {
		log.Fatal(err)
	}
	for _, word := range []string{"one", "two", "three"} {
		job := client.Job{ID: "words-" + word, Pins: pins, Program: program, Entry: "main.mjs", Args: []string{word}}
		for {
			result, err := c.Run(ctx, job)
			var problem *client.ProblemError
			switch {
			case err == nil:
				fmt.Println(word, result.Status())
			case errors.As(err, &problem) && problem.RetryAfter > 0:
				time.Sleep(problem.RetryAfter) // the queue is full, or the daemon shuts down
				continue
			case client.StartedNothing(err):
				log.Fatal("not run: ", err)
			default:
				fmt.Println(word, "may have run, or may be running: ", err)
			}
			break
		}
	}
}

// Output as it arrives, and what to do with a result that is not observed.
func ExampleClient_Stream() {
	program, err := client.ReadTree(".", "node_modules", ".git")
	if err != nil {
		log.Fatal(err)
	}
	job := client.Job{Program: program, Entry: "main.mjs"}
	result, err := client.New("/run/user/1000/confined/socket").Stream(context.Background(), job, func(e client.Event) {
		switch {
		case e.Type == client.EventOutput && e.Stream == api.OutputEventStreamStderr:
			os.Stderr.Write(e.Output)
		case e.Type == client.EventOutput:
			os.Stdout.Write(e.Output)
		}
	})
	switch {
	case err != nil:
		log.Fatal(err)
	case result.NotStarted != nil:
		log.Fatal(result.NotStarted.Reason, ": ", result.NotStarted.Message)
	case result.Unresolved != nil:
		log.Fatal("the program may still be running: ", result.Problems())
	case !result.Attributable():
		log.Fatal("this output is nobody's: ", result.Problems())
	}
	if stop := result.Process().Stopped; stop != nil {
		fmt.Println("it was stopped:", *stop)
	}
}
