package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
)

func newFmt(env Environment) *cobra.Command {
	var write, check bool
	cmd := &cobra.Command{
		Use:   "fmt FILE...",
		Short: "Format designs",
		Long: `Format designs in YAML: keys in canonical order, short values on one line, quotes only where needed. Comments and
meaning are preserved. In a Markdown file (.md), only code blocks marked "yaml design" are formatted.

Without -w, the result is printed. With --check, only the names of unformatted files are printed, and the exit status
is 1 if there are any.`,
		Example: `  monotable fmt -w *.design.yaml
  monotable fmt --check shop.design.yaml`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return formatFiles(env, args, write, check)
		},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write the result to the file")
	cmd.Flags().BoolVar(&check, "check", false, "list unformatted files and change nothing")
	excludeFlags(cmd.Flags(), "", "write", "check")
	return cmd
}

// formatFiles formats all files; an invalid one does not prevent the others from being formatted.
func formatFiles(env Environment, names []string, write, check bool) error {
	var failed error
	for _, name := range names {
		before, after, err := formatFile(name)
		if err != nil {
			if err = designError(env, err); !errors.Is(err, errReported) {
				return err
			}
			failed = err
			continue
		}
		same := bytes.Equal(before, after)
		switch {
		case check && !same:
			fmt.Fprintln(env.Stdout, name)
			failed = errReported
		case write && !same:
			err = rewrite(name, before, after)
		case !check && !write:
			_, err = env.Stdout.Write(after)
		}
		if err != nil {
			return err
		}
	}
	return failed
}

// rewrite replaces the contents of a file, or leaves it as it was: a full disk must not cost the user the design.
func rewrite(name string, before, after []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0) //nolint:gosec // the user names the file
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(after, 0); err != nil {
		after = before
		_, restored := f.WriteAt(before, 0) // onto blocks that the file has
		err = errors.Join(err, restored)
	}
	return errors.Join(err, f.Truncate(int64(len(after))), f.Close())
}

func formatFile(name string) (before, after []byte, err error) {
	if strings.EqualFold(filepath.Ext(name), ".json") {
		return nil, nil, fmt.Errorf("%s: fmt formats designs in YAML, not in JSON", name)
	}
	before, err = os.ReadFile(name) //nolint:gosec // the user names the file to read
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("there is no file %s", name)
	}
	if err != nil {
		return nil, nil, err
	}
	after, err = design.Format(name, before)
	return before, after, err
}
