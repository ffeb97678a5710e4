package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/docs"
)

func newDocs(env Environment) *cobra.Command {
	var out, check string
	cmd := &cobra.Command{
		Use:   "docs FILE",
		Short: "Generate the documentation of a design",
		Long: `Generate the documentation of a design, in Markdown with Mermaid diagrams: entities and their fields, item
collections, key templates of tables and indexes, the request of each read and the items of each write with their
costs, guarantees, lifecycles, findings, and sample items by partition.

The output depends only on the design. Keep it next to the design, and use --check to fail the build when the two
differ.`,
		Example: `  monotable docs shop.design.yaml -o SHOP.md
  monotable docs shop.design.yaml --check SHOP.md`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := design.Load(args[0])
			if err != nil {
				return designError(env, err)
			}
			document := docs.Document(d)
			switch {
			case check != "":
				return compareDocument(env, check, document)
			case out != "" && sameFile(out, args[0]):
				return fmt.Errorf("--output %s is the design itself: want another file", out)
			case out != "":
				return os.WriteFile(out, document, 0o644) //nolint:gosec // a text that others may read
			default:
				_, err = env.Stdout.Write(document)
				return err
			}
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "the file to write; default: standard output")
	cmd.Flags().StringVar(&check, "check", "", "write nothing; the exit status is 1 if this file is out of date")
	excludeFlags(cmd.Flags(), "", "output", "check")
	return cmd
}

// sameFile reports whether two names are of one file, which exists.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// compareDocument reports the first line in which a file differs from a document.
func compareDocument(env Environment, name string, document []byte) error {
	have, err := os.ReadFile(name) //nolint:gosec // the user names the file to read
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no file %s", name)
	}
	if err != nil {
		return err
	}
	have = bytes.ReplaceAll(have, []byte("\r\n"), []byte("\n")) // as in some checkouts
	if bytes.Equal(have, document) {
		return nil
	}
	n := 0
	for n < min(len(have), len(document)) && have[n] == document[n] {
		n++
	}
	fmt.Fprintf(env.Stdout, "%s:%d: out of date: regenerate it with monotable docs\n", name, 1+bytes.Count(have[:n], []byte("\n")))
	return errReported
}
