package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable"
)

// defaultGrace is how long a rotated key stays valid.
const defaultGrace = 24 * time.Hour

func newIAM(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "iam",
		Short: "Manage access to the database: users, roles, access keys, policies",
		Long: `Manage users, roles, access keys and policies, which are stored in the data directory. If a server has it open, the
server executes the command and the change takes effect immediately; otherwise the command changes the directory
itself.

They apply to servers started with --auth required, which is the default on addresses other than loopback. Policies
use AWS's policy language. A user, or a session of a role, may do what the attached policies allow; root may do
everything.

With serve --iam FILE, the server takes users and roles from that file instead.`,
		Example: `  monotable iam policy create readers --document readers.json
  monotable iam user create ana --policy readers
  monotable iam key create ana              # prints the secret, once
  monotable iam policy create writers --document writers.json
  monotable iam role create loader --trust trust.json --policy writers`,
		Args: cobra.ArbitraryArgs,
		RunE: group,
	}
	cmd.AddCommand(newIAMUser(env), newIAMRole(env), newIAMKey(env), newIAMPolicy(env))
	return cmd
}

// iamCommand is a subcommand that makes one request.
type iamCommand struct {
	env       Environment
	data      string
	asJSON    bool
	masterKey masterKeyFlags
	request   monotable.IAMRequest
	// complete adds the content of files to the request.
	complete func(*monotable.IAMRequest) error
}

// newIAMAction returns a subcommand for an action. If use has a word in capitals, the argument is the request's name.
func newIAMAction(env Environment, of, use, short, long, example string, set func(*cobra.Command, *iamCommand)) *cobra.Command {
	c := &iamCommand{env: env}
	verb, argument, _ := strings.Cut(use, " ")
	c.request.Action = of + " " + verb
	cmd := &cobra.Command{
		Use: use, Short: short, Long: short + ".\n\n" + long, Example: example,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				c.setArgument(of, verb, args[0])
			}
			return c.run(cmd.Context())
		},
	}
	if long == "" {
		cmd.Long = short + "."
	}
	switch {
	case argument == "":
		cmd.Args = cobra.NoArgs
	case strings.HasPrefix(argument, "["):
		cmd.Args = cobra.MaximumNArgs(1)
	default:
		cmd.Args = cobra.ExactArgs(1)
	}
	cmd.Flags().StringVar(&c.data, "data", defaultData, "data directory")
	cmd.Flags().BoolVar(&c.asJSON, "json", false, "print JSON")
	c.masterKey.register(cmd.Flags())
	if set != nil {
		set(cmd, c)
	}
	return cmd
}

// setArgument sets the argument's member of the request: a user's name for keys that are created or listed, otherwise
// the name.
func (c *iamCommand) setArgument(of, verb, argument string) {
	if of == "key" && (verb == "create" || verb == "list") {
		c.request.User = argument
		return
	}
	c.request.Name = argument
}

func (c *iamCommand) run(ctx context.Context) error {
	if c.complete != nil {
		if err := c.complete(&c.request); err != nil {
			return err
		}
	}
	db, err := reach(ctx, c.env, c.data, &c.masterKey)
	if err != nil {
		return err
	}
	result, err := db.IAM(ctx, &c.request)
	if err != nil {
		return err
	}
	if c.asJSON {
		encoder := json.NewEncoder(c.env.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(result)
	}
	if kind, verb, _ := strings.Cut(c.request.Action, " "); verb == "list" && len(result.Users)+len(result.Roles)+len(result.Policies)+len(result.Keys) == 0 {
		what := kind
		if kind == "key" {
			what = "access key"
		}
		fmt.Fprintf(c.env.Stderr, "There is no %s. To create one, use monotable iam %s create.\n", what, kind) // not among the results
		return nil
	}
	return printIAM(c.env.Stdout, &c.request, &result)
}

func newIAMUser(env Environment) *cobra.Command {
	cmd := &cobra.Command{Use: "user", Short: "Create, list, show and delete users", Args: cobra.ArbitraryArgs, RunE: group}
	cmd.AddCommand(
		newIAMAction(env, "user", "create NAME", "Create a user", "The user has no access key yet: see monotable iam key create.",
			"  monotable iam user create ana --policy readers --tag team=blue", memberFlags),
		newIAMAction(env, "user", "list", "List the users", "", "  monotable iam user list --json", nil),
		newIAMAction(env, "user", "show NAME", "Show a user", "", "  monotable iam user show ana", nil),
		newIAMAction(env, "user", "delete NAME", "Delete a user and their access keys", "The user's sessions end immediately.", "  monotable iam user delete ana", nil),
	)
	return cmd
}

func newIAMRole(env Environment) *cobra.Command {
	cmd := &cobra.Command{Use: "role", Short: "Create, list, show and delete roles", Args: cobra.ArbitraryArgs, RunE: group}
	cmd.AddCommand(
		newIAMAction(env, "role", "create NAME", "Create a role", "The trust policy says who may assume it with AssumeRole or AssumeRoleWithWebIdentity.",
			"  monotable iam role create loader --trust trust.json --policy writers --max-session 4h",
			func(cmd *cobra.Command, c *iamCommand) {
				memberFlags(cmd, c)
				var trust string
				cmd.Flags().StringVar(&trust, "trust", "", "`FILE` with the trust policy; - is standard input")
				cmd.Flags().DurationVar(&c.request.MaxSession, "max-session", time.Hour, "maximum duration of a session, 1h to 12h")
				_ = cmd.MarkFlagRequired("trust")
				c.complete = func(r *monotable.IAMRequest) (err error) {
					if r.MaxSession < time.Hour || r.MaxSession > 12*time.Hour {
						return fmt.Errorf("--max-session %v: want 1h to 12h", r.MaxSession)
					}
					r.Trust, err = readDocument(env, trust)
					return err
				}
			}),
		newIAMAction(env, "role", "list", "List the roles", "", "  monotable iam role list", nil),
		newIAMAction(env, "role", "show NAME", "Show a role with its trust policy", "", "  monotable iam role show loader --json", nil),
		newIAMAction(env, "role", "delete NAME", "Delete a role", "Its sessions end immediately.", "  monotable iam role delete loader", nil),
	)
	return cmd
}

// memberFlags are the flags of users and roles.
func memberFlags(cmd *cobra.Command, c *iamCommand) {
	cmd.Flags().StringToStringVar(&c.request.Tags, "tag", nil, "`KEY=VALUE`; repeatable or comma-separated")
	cmd.Flags().StringSliceVar(&c.request.Policies, "policy", nil, "`NAME` of a policy to attach; repeatable or comma-separated")
	cmd.Flags().StringVar(&c.request.Boundary, "boundary", "", "`NAME` of a permissions boundary policy")
}

func newIAMKey(env Environment) *cobra.Command {
	cmd := &cobra.Command{Use: "key", Short: "Create, list, rotate and delete access keys", Args: cobra.ArbitraryArgs, RunE: group}
	cmd.AddCommand(
		newIAMAction(env, "key", "create [USER]", "Create an access key for a user or, with --root, for root",
			"The secret is printed only now. A user may have two keys.",
			"  monotable iam key create ana\n  monotable iam key create --root --json", func(cmd *cobra.Command, c *iamCommand) {
				root := cmd.Flags().Bool("root", false, "create a key for root, which may do everything")
				c.complete = func(r *monotable.IAMRequest) error {
					if *root == (r.User != "") {
						return errors.New("want either a USER or --root")
					}
					return nil
				}
			}),
		newIAMAction(env, "key", "list [USER]", "List access keys, without their secrets", "", "  monotable iam key list ana", nil),
		newIAMAction(env, "key", "rotate ID", "Replace an access key; the old one stays valid for a while", "",
			"  monotable iam key rotate AKIAIOSFODNN7EXAMPLE --grace 1h", func(cmd *cobra.Command, c *iamCommand) {
				cmd.Flags().DurationVar(&c.request.Grace, "grace", defaultGrace, "how long the old key stays valid; 0 deletes it immediately")
			}),
		newIAMAction(env, "key", "disable ID", "Disable an access key", "", "  monotable iam key disable AKIAIOSFODNN7EXAMPLE", nil),
		newIAMAction(env, "key", "enable ID", "Enable an access key", "", "  monotable iam key enable AKIAIOSFODNN7EXAMPLE", nil),
		newIAMAction(env, "key", "delete ID", "Delete an access key", "", "  monotable iam key delete AKIAIOSFODNN7EXAMPLE", nil),
	)
	return cmd
}

func newIAMPolicy(env Environment) *cobra.Command {
	cmd := &cobra.Command{Use: "policy", Short: "Create, list, show, attach and delete policies", Args: cobra.ArbitraryArgs, RunE: group}
	to := func(cmd *cobra.Command, c *iamCommand) {
		cmd.Flags().StringVar(&c.request.User, "user", "", "`NAME` of the user")
		cmd.Flags().StringVar(&c.request.Role, "role", "", "`NAME` of the role")
	}
	cmd.AddCommand(
		newIAMAction(env, "policy", "create NAME", "Create or replace a policy", "If the policy is attached, the change takes effect immediately.",
			"  monotable iam policy create readers --document readers.json", func(cmd *cobra.Command, c *iamCommand) {
				var document string
				cmd.Flags().StringVar(&document, "document", "", "`FILE` with the policy in AWS's JSON; - is standard input")
				_ = cmd.MarkFlagRequired("document")
				c.complete = func(r *monotable.IAMRequest) (err error) {
					r.Document, err = readDocument(env, document)
					return err
				}
			}),
		newIAMAction(env, "policy", "list", "List the policies", "", "  monotable iam policy list", nil),
		newIAMAction(env, "policy", "show NAME", "Show a policy with its document", "", "  monotable iam policy show readers --json", nil),
		newIAMAction(env, "policy", "attach NAME", "Attach a policy to a user or role", "", "  monotable iam policy attach readers --user ana", to),
		newIAMAction(env, "policy", "detach NAME", "Detach a policy from a user or role", "", "  monotable iam policy detach readers --role loader", to),
		newIAMAction(env, "policy", "delete NAME", "Delete a policy that is not attached", "", "  monotable iam policy delete readers", nil),
	)
	return cmd
}

// readDocument reads a policy from a file, or from standard input.
func readDocument(env Environment, name string) (string, error) {
	if name != "-" {
		data, err := os.ReadFile(name)
		return string(data), err
	}
	if env.Stdin == nil {
		return "", errors.New("standard input is empty")
	}
	data, err := io.ReadAll(env.Stdin)
	if err != nil {
		return "", fmt.Errorf("standard input: %w", err)
	}
	return string(data), nil
}
