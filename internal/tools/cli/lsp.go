package cli

import (
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
	"github.com/monotable/monotable/internal/tools/designer/policy"
	"github.com/monotable/monotable/internal/tools/lsp"
)

func newLSP(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Help editors with designs: a language server",
		Long: `Serve the Language Server Protocol on standard input and output, for editors that open *.design.yaml files.

While you type it shows what is wrong with the design, as check does. It completes keys, names and types; shows of a pattern
its request and what it costs, of a field its type and the keys it is in; finds definitions and references; renames
entities, fields, patterns, tables and indexes everywhere; and formats as fmt does.

docs/editors.md says how VS Code, Neovim, Helix and Zed are told of it.`,
		Example: `  monotable lsp
  hx shop.design.yaml              # an editor starts it by itself, see docs/editors.md`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return lsp.Serve(cmd.Context(), env.stdin(), env.Stdout, lsp.Options{Version: currentVersion().Version, Log: env.Stderr, Check: checkNow})
		},
	}
	cmd.Flags().Bool("stdio", true, "speak on standard input and output, as always; editors pass it")
	return cmd
}

// checkNow finds what is wrong with a design of a file, as the policy that holds for it judges it today. A text that is in no file has
// no policy.
func checkNow(file string, d *design.Design) (check.Findings, error) {
	if file == "" || !filepath.IsAbs(file) {
		return check.Check(d), nil
	}
	return policy.Check(file, d, time.Now())
}

// stdin is what the command reads.
func (e Environment) stdin() io.Reader {
	if e.Stdin == nil {
		return strings.NewReader("")
	}
	return e.Stdin
}
