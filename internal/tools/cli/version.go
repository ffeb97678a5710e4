package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable"
)

// release and commit are set by the linker when a release is built (make dist). Other builds report the version of their
// module, if it has one, and the commit recorded by the go command.
var (
	release = "0.1.0-dev"
	commit  string
)

type versionInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	// Format is the storage format version: a data directory with a later version cannot be opened.
	Format   uint64 `json:"format"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersion(env Environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Print the version, the commit it was built from, and the version of the storage format.",
		Example: `  monotable version
  monotable version --json
  monotable --version`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := currentVersion()
			if asJSON {
				return json.NewEncoder(env.Stdout).Encode(v)
			}
			_, err := fmt.Fprintln(env.Stdout, v)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// String is the version in one line.
func (v versionInfo) String() string {
	built := "unknown"
	if v.Commit != "" {
		built = v.Commit[:min(len(v.Commit), 12)]
	}
	return fmt.Sprintf("monotable %s (commit %s, storage format %d, %s, %s)", v.Version, built, v.Format, v.Go, v.Platform)
}

func currentVersion() versionInfo {
	v := versionInfo{Version: release, Commit: commit, Format: monotable.FormatVersion(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if commit != "" {
		return v
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			v.Commit = setting.Value
		}
	}
	return v
}
