package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// completeValues makes shells complete the values of flags that have a few. Shells complete file names for the others.
func completeValues(root *cobra.Command) {
	for _, flag := range []struct{ command, name, values string }{
		{"check", "fail-on", "error warning info never"},
		{"check", "format", "text json sarif"},
		{"console", "log-format", "text json"},
		{"console", "log-level", "debug info warn error"},
		{"export", "format", "json ion"},
		{"generate", "lang", "go typescript python"},
		{"import", "compression", "gzip zstd none"},
		{"import", "format", "json ion csv"},
		{"migrate run", "deployed", "dual-writes new-reads"},
		{"provision", "as", "createtable cloudformation sam terraform iam workbench"},
		{"serve", "audit-events", "management read write"},
		{"serve", "audit-failure", "stop warn"},
		{"serve", "auth", "required off"},
		{"serve", "disk-reserve", "auto none"},
		{"serve", "durability", "sync interval none"},
		{"serve", "log-format", "text json"},
		{"serve", "log-level", "debug info warn error"},
		{"stream tail", "from", "latest trim-horizon"},
		{"vet", "format", "text json sarif"},
	} {
		cmd, _, err := root.Find(strings.Fields(flag.command))
		if err == nil {
			err = cmd.RegisterFlagCompletionFunc(flag.name, cobra.FixedCompletions(strings.Fields(flag.values), cobra.ShellCompDirectiveNoFileComp))
		}
		if err != nil {
			panic(err) // a name in the list above is wrong
		}
	}
}
