package main

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	address := strings.Replace(listener.Addr().String(), ":", "/", 1)
	for _, test := range []struct {
		args   []string
		stdin  string
		status int
		output string
	}{
		{[]string{"-c", "echo a; exit 3"}, "", 3, "a\n"},
		{[]string{"-c", `echo "$0 $1"`, "name", "one"}, "", 0, "name one\n"},
		{nil, "echo from input", 0, "from input\n"},
		{[]string{"-c", "no-such-program"}, "", 127, ""},
		{[]string{"-c", "if"}, "", 2, ""},
		{[]string{"-x"}, "", 2, ""},
		{[]string{"no/such/file"}, "", 127, ""},
		{[]string{"-c", "</dev/tcp/" + address + " && echo open"}, "", 0, "open\n"},
		{[]string{"-c", "</dev/tcp/127.0.0.1"}, "", 1, ""},
	} {
		var out, complaints bytes.Buffer
		if status := run(test.args, strings.NewReader(test.stdin), &out, &complaints); status != test.status || out.String() != test.output && test.output != "" {
			t.Errorf("%s: status %d, output %q, want %d, %q; %s", fmt.Sprint(test.args), status, out.String(), test.status, test.output, complaints.String())
		}
	}
}
