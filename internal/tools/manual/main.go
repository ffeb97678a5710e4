// Command manual writes monotable's manual pages and shell completions to the directories man and completions below a given
// one. It is a separate command so that monotable does not contain the code to write them.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/monotable/monotable/internal/tools/cli"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

// run writes the pages with the release date, so that builds of a commit are reproducible.
func run(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: manual DIR VERSION DATE, such as manual ./dist/manual 1.2.3 2026-01-31")
	}
	dir, version := args[0], args[1]
	date, err := time.Parse(time.DateOnly, args[2])
	if err != nil {
		return err
	}
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	if err := errors.Join(os.MkdirAll(man, 0o755), os.MkdirAll(completions, 0o755)); err != nil {
		return err
	}
	root := cli.Root()
	root.DisableAutoGenTag = true
	keepLines(root)
	header := &doc.GenManHeader{Section: "1", Source: "monotable " + version, Manual: "monotable", Date: &date}
	return errors.Join(
		doc.GenManTree(root, header, man),
		root.GenBashCompletionFileV2(filepath.Join(completions, "monotable.bash"), true),
		root.GenZshCompletionFile(filepath.Join(completions, "_monotable")),
		root.GenFishCompletionFile(filepath.Join(completions, "monotable.fish"), true),
		root.GenPowerShellCompletionFileWithDesc(filepath.Join(completions, "monotable.ps1")),
	)
}

// keepLines marks the indented lines of all descriptions as code of Markdown, from which the pages are made. Otherwise the lines of
// a list or an example would be filled like a paragraph.
func keepLines(cmd *cobra.Command) {
	cmd.Long = strings.ReplaceAll(cmd.Long, "\n  ", "\n      ")
	for _, sub := range cmd.Commands() {
		keepLines(sub)
	}
}
