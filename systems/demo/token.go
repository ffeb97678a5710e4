package demo

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/system"
)

func newToken(env Environment, systems []system.System) *cobra.Command {
	var name, data string
	var admin bool
	var claims auth.Claims
	cmd := &cobra.Command{
		Use:   "token --system NAME --sub USER",
		Short: "Sign an access token that a system of the demo accepts",
		Long: `Sign an access token for any user of a system, with the keys of the demo in a data directory, and print it. It has the
claims of a Cognito user pool's token. Each system has an issuer of its own, so a token is accepted by one system of a demo
with these keys, and rejected by all others.`,
		Example: `  demo token --system appcore --sub u-123
  curl -H "Authorization: Bearer $(demo token --system catfecito --admin --sub u-1)" http://127.0.0.1:8080/catfecito/…`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := chosenOne(env, systems, name)
			if err != nil {
				return err
			}
			if claims.Sub == "" {
				return errors.New("--sub: want a user's id, such as u-123")
			}
			if admin && s.AdminGroup == "" {
				return fmt.Errorf("--admin: %s has no administrators: all its users have the same rights", s.Name)
			}
			if admin {
				claims.Groups = []string{s.AdminGroup}
			}
			issuer, err := openIssuer(s.Name, data, "")
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("there are no keys for %s in %s yet: start the demo once (%s serve), or pass its directory with --data", s.Name, data, env.Program)
			}
			if err != nil {
				return err
			}
			claims.LogIn = rand.Text()
			token, err := issuer.Mint(claims)
			if err != nil {
				return err
			}
			fmt.Fprintln(env.Stdout, token)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&name, "system", "", "name of the system (demo systems lists them)")
	f.StringVar(&claims.Sub, "sub", "", "the user's id")
	f.BoolVar(&admin, "admin", false, "make the user an administrator of the system")
	f.DurationVar(&claims.TTL, "ttl", time.Hour, "validity of the token")
	f.StringVar(&data, "data", defaultData, "the demo's data directory")
	return cmd
}
