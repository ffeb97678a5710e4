package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/spf13/cobra"
)

func newStreamList(env Environment) *cobra.Command {
	var flags streamsFlags
	var table string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List streams",
		Long:  `List the streams that can be read: those of the tables, and for 24 hours those that were disabled.`,
		Example: `  monotable stream list
  monotable stream list --table orders`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := flags.client(cmd.Context(), env)
			if err != nil {
				return err
			}
			streams, err := client.list(cmd.Context(), table)
			if err != nil {
				return err
			}
			if asJSON {
				return printStreamsJSON(env.Stdout, streams)
			}
			if len(streams) == 0 { // not on standard output, where programs expect streams
				if table == "" {
					table = "TABLE"
				}
				fmt.Fprintf(env.Stderr, "There is no stream. To enable one, use %s.\n", client.enable(table))
				return nil
			}
			w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
			for _, s := range streams {
				fmt.Fprintf(w, "%s\t%s\n", aws.ToString(s.TableName), aws.ToString(s.StreamArn))
			}
			return w.Flush()
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&table, "table", "", "list only the streams of this table")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printStreamsJSON(out io.Writer, streams []types.Stream) error {
	type stream struct {
		Table string `json:"table"`
		ARN   string `json:"arn"`
		Label string `json:"label"`
	}
	list := make([]stream, len(streams))
	for i, s := range streams {
		list[i] = stream{aws.ToString(s.TableName), aws.ToString(s.StreamArn), aws.ToString(s.StreamLabel)}
	}
	return json.NewEncoder(out).Encode(list)
}
