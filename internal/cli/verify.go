package cli

import (
	"github.com/spf13/cobra"
)

func newVerify(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify DIR",
		Short: "Prove a data directory: every index entry, expiry and count against its table",
		Args:  cobra.ExactArgs(1),
	}
	_ = env
	return cmd
}
