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
		Short: "Run the language server for designs",
		Long: `Serve the Language Server Protocol on standard input and output, for editing *.design.yaml files.

It reports findings while you type, as check does; completes keys, names and types; shows the request and cost of a
pattern, and the type and keys of a field; finds definitions and references; renames entities, fields, patterns,
tables and indexes; and formats, as fmt does.

See docs/editors.md for the setup in VS Code, Neovim, Helix and Zed.`,
		Example: `  monotable lsp
  hx shop.design.yaml              # editors start it by themselves, see docs/editors.md`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return lsp.Serve(cmd.Context(), env.stdin(), env.Stdout, lsp.Options{Version: currentVersion().Version, Log: env.Stderr, Check: checkNow})
		},
	}
	cmd.Flags().Bool("stdio", true, "use standard input and output (always on; some editors pass it)")
	return cmd
}

// checkNow finds the defects of a file's design, judged by the policy that applies to it today. A text without a file
// has no policy.
func checkNow(file string, d *design.Design) (check.Findings, error) {
	if file == "" || !filepath.IsAbs(file) {
		return check.Check(d), nil
	}
	return policy.Check(file, d, time.Now())
}

// stdin is the command's standard input.
func (e Environment) stdin() io.Reader {
	if e.Stdin == nil {
		return strings.NewReader("")
	}
	return e.Stdin
}
