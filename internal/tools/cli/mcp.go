package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/source"
	"github.com/monotable/monotable/internal/tools/mcp"
)

type mcpFlags struct {
	endpoint, region, root string
	tables                 []string
	readOnly               bool
}

func newMCP(env Environment) *cobra.Command {
	var flags mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp [FILE]",
		Short: "Serve designs and their patterns as tools for language models",
		Long: `Serve the Model Context Protocol on standard input and output, with tools that check, explain, price and test designs.

With a design and an --endpoint, there is also a tool for each read, collection and write: its schema has the
pattern's inputs, its description has the pattern's documentation, request and cost. The tools do the same as
generated code: copies, markers, counters and index keys are kept consistent, conditions are checked, secrets are not
returned. Writes are marked as destructive, so that clients ask first; --read-only omits them.

The tools only read files below --root. FILE can be anywhere.`,
		Example: `  monotable mcp
  monotable mcp shop.design.yaml --endpoint http://127.0.0.1:8000 --read-only
  monotable mcp shop.design.yaml --endpoint https://dynamodb.eu-west-1.amazonaws.com --region eu-west-1 --table shop-prod`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := flags.options(cmd.Context(), env, args)
			if err != nil {
				return err
			}
			return mcp.Serve(cmd.Context(), env.stdin(), env.Stdout, options)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.endpoint, "endpoint", "", "the database with the design's tables; without it there are no tools for patterns")
	f.StringVar(&flags.region, "region", "", "region of the database; default: AWS_REGION, AWS_DEFAULT_REGION, "+defaultRegion)
	f.StringArrayVar(&flags.tables, "table", nil, "NAME=PHYSICAL: the table's actual name, if it differs from the design's; NAME can be omitted if there is one table")
	f.StringVar(&flags.root, "root", ".", "the directory from which designs may be read")
	f.BoolVar(&flags.readOnly, "read-only", false, "omit the tools for writes")
	return cmd
}

func (flags *mcpFlags) options(ctx context.Context, env Environment, args []string) (mcp.Options, error) {
	o := mcp.Options{Version: currentVersion().Version, ReadOnly: flags.readOnly, Log: env.Stderr, Check: checkNow}
	directory, err := filepath.Abs(flags.root)
	if err != nil {
		return o, err
	}
	if o.Root, err = os.OpenRoot(directory); err != nil {
		return o, err
	}
	if len(args) == 0 {
		if flags.endpoint != "" {
			return o, errors.New("--endpoint needs a design FILE, whose patterns it serves")
		}
		return o, nil
	}
	if o.File, err = filepath.Abs(args[0]); err != nil {
		return o, err
	}
	if o.Design, err = design.Load(args[0]); err != nil {
		return o, designError(env, err)
	}
	var names []string
	for _, t := range o.Design.Tables {
		names = append(names, t.Name)
	}
	if o.Tables, err = named("table", flags.tables, names); err != nil {
		return o, err
	}
	if flags.endpoint == "" {
		return o, nil
	}
	client, err := databaseClient(ctx, env, flags.endpoint, flags.region)
	if err != nil {
		return o, err
	}
	o.Client = client
	for _, t := range o.Design.Tables {
		if err := reachable(ctx, client, cmp.Or(o.Tables[t.Name], t.Physical)); err != nil {
			return o, err
		}
	}
	return o, nil
}

// reachable describes a table, so that a wrong endpoint is reported at the start and not at the first call. Callers of
// the patterns need not be allowed to describe tables, so a rejection by DynamoDB is not an error here.
func reachable(ctx context.Context, client *dynamodb.Client, table string) error {
	_, err := source.OpenTable(ctx, client, table, 1)
	if refused, is := errors.AsType[*http.ResponseError](err); is && refused.HTTPStatusCode() == 400 {
		return nil
	}
	return err
}
