package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeContainer runs the README's container with the environment of the image.
func TestReadmeContainer(t *testing.T) {
	line := regexp.MustCompile(`docker run .*ghcr\.io/monotable/monotable (.+)`).FindStringSubmatch(readText(t, "README.md"))
	variables := regexp.MustCompile(`"(MONOTABLE_\w+)=([^"]*)"`).FindAllStringSubmatch(readText(t, "tools/dist/image.go"), -1)
	if line == nil || len(variables) == 0 {
		t.Fatalf("the README's line is %q, the image's variables are %q", line, variables)
	}
	// The tests share the ports of the machine.
	free := func(s string) string { return regexp.MustCompile(`^:80[08]0$`).ReplaceAllString(s, "127.0.0.1:0") }
	var args []string
	for word := range strings.FieldsSeq(line[1]) {
		args = append(args, free(word))
	}
	environment := map[string]string{}
	for _, v := range variables {
		environment[v[1]] = free(v[2])
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader, writer := io.Pipe()
	status, logged := make(chan int, 1), new(log)
	go func() {
		code := Run(ctx, args, Environment{Program: "monotable", Getenv: func(name string) string { return environment[name] }, Stdout: writer, Stderr: logged})
		_ = writer.Close()
		status <- code
	}()
	if greeting := readUntil(reader, "Stop with Ctrl-C.\n"); !strings.Contains(greeting, "data in memory") {
		t.Errorf("%q with %q printed %q, %s", args, environment, greeting, logged)
	}
	cancel()
	if code := <-status; code != 0 {
		t.Errorf("%q with %q: exit status %d: %s", args, environment, code, logged)
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
