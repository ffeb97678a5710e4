package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// placeholderKey is a key with which SDKs sign for a server that does not check signatures.
const placeholderKey = "monotable"

func newEnv(env Environment) *cobra.Command {
	var endpoint, region string
	var fish bool
	cmd := &cobra.Command{
		Use:   "env",
		Short: "Print the environment that points AWS SDKs and the AWS CLI at the database",
		Long: `Print shell commands that point every AWS SDK and the AWS CLI at a monotable server.

The access key is taken from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or else from MONOTABLE_ROOT_ACCESS_KEY_ID
and MONOTABLE_ROOT_SECRET_ACCESS_KEY. Without either it is a placeholder: SDKs require an access key, but a server
with --auth off does not verify it.`,
		Example: `  eval "$(monotable env)"
  monotable env --fish | source`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := checkServerURL(endpoint); err != nil {
				return err
			}
			form := "export %s=%s\n"
			if fish {
				form = "set -gx %s %s\n"
			}
			id, secret := ownKey(env)
			for _, variable := range [][2]string{
				{"AWS_ENDPOINT_URL_DYNAMODB", endpoint},
				{"AWS_ENDPOINT_URL_DYNAMODB_STREAMS", endpoint},
				{"AWS_ENDPOINT_URL_STS", endpoint},
				{"AWS_REGION", region},
				{"AWS_DEFAULT_REGION", region},
				{"AWS_ACCESS_KEY_ID", id},
				{"AWS_SECRET_ACCESS_KEY", secret},
			} {
				fmt.Fprintf(env.Stdout, form, variable[0], shellQuote(variable[1]))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&endpoint, "endpoint", "http://"+defaultAddr, "URL of the server")
	cmd.Flags().StringVar(&region, "region", defaultRegion, "region for the SDKs")
	cmd.Flags().BoolVar(&fish, "fish", false, "print fish syntax instead of sh")
	return cmd
}

// ownKey is the access key in the environment, otherwise a placeholder.
func ownKey(env Environment) (id, secret string) {
	for _, names := range [][2]string{{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}, {rootKeyVariable, rootSecretVariable}} {
		if id, secret = env.Getenv(names[0]), env.Getenv(names[1]); id != "" && secret != "" {
			return id, secret
		}
	}
	return placeholderKey, placeholderKey
}

// shellQuote leaves plain words unchanged and quotes the rest for sh and fish.
func shellQuote(s string) string {
	plain := strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/.-_[]") == ""
	if plain && s != "" && !strings.ContainsAny(s, "[]") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
