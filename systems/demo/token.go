package demo

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/run"
)

func newToken(env Environment) *cobra.Command {
	var data string
	var claims auth.Claims
	cmd := &cobra.Command{
		Use:   "token --sub NAME",
		Short: "Sign an access token that the demo accepts",
		Long: `Sign an access token with the keys of the demo in a data directory, and print it. It is a token as a Cognito user
pool issues it, for whoever you say; only a demo with these keys accepts it.`,
		Example: `  demo token --sub u-123
  curl -H "Authorization: Bearer $(demo token --sub u-123 --group admin)" http://127.0.0.1:8080/…`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if claims.Sub == "" {
				return errors.New("--sub: want a user's id, such as u-123")
			}
			issuer, err := auth.OpenIssuer(keys(data, run.IssuerKeys), "", nil)
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("there are no keys in %s yet: start the demo once (%s serve), or name its directory with --data", data, env.Program)
			}
			if err != nil {
				return err
			}
			token, err := issuer.Mint(claims)
			if err != nil {
				return err
			}
			fmt.Fprintln(env.Stdout, token)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&claims.Sub, "sub", "", "whose token it is")
	f.StringSliceVar(&claims.Groups, "group", nil, "groups that the user is in, such as admin")
	f.DurationVar(&claims.TTL, "ttl", time.Hour, "how long it is accepted")
	f.StringVar(&data, "data", defaultData, "the demo's data directory")
	return cmd
}
