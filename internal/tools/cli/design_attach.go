package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/tools/control"
	"github.com/monotable/monotable/internal/tools/designer/attach"
)

// attachFlags identify the database whose tables designs are attached to.
type attachFlags struct {
	endpoint, region, data string
	masterKey              masterKeyFlags
	asJSON                 bool
}

func (a *attachFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.endpoint, "endpoint", "", "the database with the tables; default: "+endpointDefaults)
	f.StringVar(&a.region, "region", "", "region of the database; default: AWS_REGION, AWS_DEFAULT_REGION, "+defaultRegion)
	f.StringVar(&a.data, "data", "", "the database's directory, instead of --endpoint; a server may have it open")
	a.masterKey.register(f)
	f.BoolVar(&a.asJSON, "json", false, "print JSON")
	excludeFlags(cmd.Flags(), "", "endpoint", "data")
}

func newDesign(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "design",
		Short: "Store designs with their tables, where the console finds them",
		Long: `Store designs with their tables, in the table ` + attach.Table + ` of the same database, which is
created with the first design. The console uses the attached design to show items by entity, explain the parts of keys,
and run patterns.

This works with any DynamoDB endpoint. Every attach or detach creates a new version; nothing is overwritten.`,
		RunE: group,
	}
	cmd.AddCommand(newDesignAttach(env), newDesignDetach(env), newDesignList(env))
	return cmd
}

func newDesignAttach(env Environment) *cobra.Command {
	var flags attachFlags
	var tables []string
	cmd := &cobra.Command{
		Use:   "attach FILE",
		Short: "Attach a design to its tables",
		Long: `Attach a design to each of its tables. If a table's name in the design has placeholders, such as shop-{stage}, give
its actual name with --table. The tables need not exist yet.`,
		Example: `  monotable design attach shop.design.yaml
  monotable design attach shop.design.yaml --data ./data --table shop-dev
  monotable design attach shop.design.yaml --endpoint https://dynamodb.eu-west-1.amazonaws.com --table shop=shop-prod`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			d := attach.Design{File: filepath.Base(args[0]), Text: string(text), At: time.Now()}
			parsed, err := d.Parse()
			if err != nil {
				return designError(env, err)
			}
			var names []string
			for _, t := range parsed.Tables {
				names = append(names, t.Name)
			}
			if d.Tables, err = named("table", tables, names); err != nil {
				return err
			}
			for _, t := range parsed.Tables {
				switch {
				case d.Tables[t.Name] != "":
				case strings.Contains(t.Physical, "{"):
					return fmt.Errorf("the name of table %s is %s, which has placeholders: use --table %s=NAME", t.Name, t.Physical, t.Name)
				default:
					d.Tables[t.Name] = t.Physical
				}
			}
			return flags.with(cmd.Context(), env, func(client attach.Client) error {
				done, err := attach.Attach(cmd.Context(), client, d)
				return errors.Join(flags.print(env, done, "Attached %s to %s, version %d.\n"), err)
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().StringArrayVar(&tables, "table", nil, "NAME=PHYSICAL: the table's actual name, if it differs from the design's; NAME can be omitted if there is one table")
	return cmd
}

func newDesignDetach(env Environment) *cobra.Command {
	var flags attachFlags
	cmd := &cobra.Command{
		Use:     "detach TABLE",
		Short:   "Detach the design of a table",
		Long:    "Detach the design of a table. Earlier versions are kept; monotable design list --all shows them.",
		Example: "  monotable design detach shop-dev",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.with(cmd.Context(), env, func(client attach.Client) error {
				d, err := attach.Detach(cmd.Context(), client, args[0], time.Now())
				if err != nil {
					return err
				}
				return flags.print(env, []attach.Design{d}, "Detached%s from %s, version %d.\n")
			})
		},
	}
	flags.register(cmd)
	return cmd
}

func newDesignList(env Environment) *cobra.Command {
	var flags attachFlags
	var all bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show which tables have a design attached",
		Example: `  monotable design list
  monotable design list --all --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.with(cmd.Context(), env, func(client attach.Client) error {
				list, err := attach.List(cmd.Context(), client, all)
				if err != nil {
					return err
				}
				if flags.asJSON {
					return json.NewEncoder(env.Stdout).Encode(append([]attach.Design{}, list...))
				}
				if len(list) == 0 {
					fmt.Fprintln(env.Stdout, "No table has a design attached. To attach one, use monotable design attach FILE.")
					return nil
				}
				w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "TABLE\tVERSION\tDESIGN\tSINCE")
				for _, d := range list {
					file := d.File
					if file == "" {
						file = "(detached)"
					}
					fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", d.Table, d.Version, file, d.At.Format(time.RFC3339))
				}
				return w.Flush()
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "show every version, not just the latest of each table")
	return cmd
}

// print reports what was done with designs: a sentence with the file, the table and the version.
func (a *attachFlags) print(env Environment, done []attach.Design, sentence string) error {
	if a.asJSON {
		return json.NewEncoder(env.Stdout).Encode(append([]attach.Design{}, done...))
	}
	for _, d := range done {
		fmt.Fprintf(env.Stdout, sentence, d.File, d.Table, d.Version)
	}
	return nil
}

// with calls f with a client of the database: at the endpoint or, for a directory, through the server that has it open
// or on its files.
func (a *attachFlags) with(ctx context.Context, env Environment, f func(attach.Client) error) error {
	if a.data == "" {
		return a.at(ctx, env, a.endpoint, f)
	}
	client, err := control.Dial(ctx, a.data)
	if err == nil {
		return a.at(ctx, env, client.Endpoint(), f)
	}
	if !errors.Is(err, control.ErrNotServed) {
		return err
	}
	if _, err := os.Stat(a.data); err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	keys, err := a.masterKey.read(ctx, env)
	if err != nil {
		return err
	}
	db, err := monotable.Open(a.data, &monotable.Options{Region: regionOf(env, a.region), MasterKey: keys.current, PreviousMasterKey: keys.previous})
	if err != nil {
		return err
	}
	return errors.Join(f(db.Client()), db.Close())
}

// at calls f with a client of the database at an endpoint.
func (a *attachFlags) at(ctx context.Context, env Environment, endpoint string, f func(attach.Client) error) error {
	client, err := databaseClient(ctx, env, endpoint, a.region)
	if err != nil {
		return err
	}
	return f(client)
}
