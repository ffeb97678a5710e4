package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// placeholderKey is a key that SDKs sign with and nobody checks.
const placeholderKey = "monotable"

func newEnv(env Environment) *cobra.Command {
	var endpoint, region string
	var fish bool
	cmd := &cobra.Command{
		Use:   "env",
		Short: "Print the environment that points AWS SDKs and the AWS CLI at the database",
		Long: `Print shell lines that point every AWS SDK and the AWS CLI at a monotable server.
The keys are placeholders: SDKs insist on some, the server does not check them.`,
		Example: `  eval "$(monotable env)"
  monotable env --fish | source`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			form := "export %s=%s\n"
			if fish {
				form = "set -gx %s %s\n"
			}
			for _, variable := range [][2]string{
				{"AWS_ENDPOINT_URL_DYNAMODB", endpoint},
				{"AWS_ENDPOINT_URL_DYNAMODB_STREAMS", endpoint},
				{"AWS_REGION", region},
				{"AWS_DEFAULT_REGION", region},
				{"AWS_ACCESS_KEY_ID", placeholderKey},
				{"AWS_SECRET_ACCESS_KEY", placeholderKey},
			} {
				fmt.Fprintf(env.Stdout, form, variable[0], shellQuote(variable[1]))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&endpoint, "endpoint", "http://"+defaultAddr, "URL of the server")
	cmd.Flags().StringVar(&region, "region", defaultRegion, "region the SDKs shall use")
	cmd.Flags().BoolVar(&fish, "fish", false, "print fish syntax instead of sh")
	return cmd
}

// shellQuote leaves plain words alone and quotes the rest for sh and fish.
func shellQuote(s string) string {
	plain := strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/.-_[]") == ""
	if plain && s != "" && !strings.ContainsAny(s, "[]") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
