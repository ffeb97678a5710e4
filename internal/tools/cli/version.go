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
		Long:  "Print the version, the commit it was built from, and the format version of data directories.",
		Example: `  monotable version
  monotable version --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := currentVersion()
			if asJSON {
				return json.NewEncoder(env.Stdout).Encode(v)
			}
			built := ""
			if v.Commit != "" {
				built = "commit " + v.Commit[:min(len(v.Commit), 12)] + ", "
			}
			_, err := fmt.Fprintf(env.Stdout, "monotable %s (%sformat %d, %s, %s)\n", v.Version, built, v.Format, v.Go, v.Platform)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
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
