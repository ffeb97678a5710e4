// Command sh is the shell of the container image: a POSIX shell with Bash's redirections to /dev/tcp, and without any other programs.
//
// Testcontainers' port waits run commands in the container that read /proc/net/tcp with cat and awk, or call nc, or open
// /dev/tcp/localhost/PORT. The last of these works here. The shell is not meant for interactive use.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// dialWait is how long a connection to /dev/tcp may take.
const dialWait = 5 * time.Second

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run runs sh -c COMMAND [NAME [ARG…]], sh FILE [ARG…], or the commands on standard input, and returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	source := stdin
	name := "sh"
	switch {
	case len(args) > 1 && args[0] == "-c":
		source = strings.NewReader(args[1])
		args = args[2:]
		if len(args) > 0 {
			name, args = args[0], args[1:]
		}
	case len(args) > 0 && !strings.HasPrefix(args[0], "-"):
		file, err := os.Open(args[0])
		if err != nil {
			fmt.Fprintln(stderr, "sh:", err)
			return 127
		}
		defer func() { _ = file.Close() }()
		source, name, args = file, args[0], args[1:]
	case len(args) > 0:
		fmt.Fprintf(stderr, "sh: unknown option %s: want sh -c COMMAND, sh FILE, or a script on standard input\n", args[0])
		return 2
	}
	script, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(source, name)
	if err != nil {
		fmt.Fprintln(stderr, "sh:", err)
		return 2
	}
	runner, err := interp.New(interp.StdIO(stdin, stdout, stderr), interp.Params(append([]string{"--"}, args...)...), interp.OpenHandler(open))
	if err != nil {
		fmt.Fprintln(stderr, "sh:", err)
		return 2
	}
	err = runner.Run(context.Background(), script)
	if status, ok := errors.AsType[interp.ExitStatus](err); ok {
		return int(status)
	}
	if err != nil {
		fmt.Fprintln(stderr, "sh:", err)
		return 1
	}
	return 0
}

// open opens a file or, for /dev/tcp/HOST/PORT, a connection, like Bash.
func open(ctx context.Context, path string, flag int, mode os.FileMode) (io.ReadWriteCloser, error) {
	address, ok := strings.CutPrefix(path, "/dev/tcp/")
	if !ok {
		return interp.DefaultOpenHandler()(ctx, path, flag, mode)
	}
	host, port, ok := strings.Cut(address, "/")
	if !ok {
		return nil, &os.PathError{Op: "open", Path: path, Err: errors.New("want /dev/tcp/HOST/PORT")}
	}
	return (&net.Dialer{Timeout: dialWait}).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
}
