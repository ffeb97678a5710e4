package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/spf13/cobra"
)

func newStreamDescribe(env Environment) *cobra.Command {
	var flags streamsFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "describe TABLE|ARN",
		Short: "Show a stream and its shards",
		Long: `Show a stream and its shards: the newest stream of a table, or the stream with an ARN. A shard without a last sequence
number is open.`,
		Example: `  monotable stream describe orders`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := flags.client(cmd.Context(), env)
			if err != nil {
				return err
			}
			arn, err := client.find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			d, err := client.describe(cmd.Context(), arn)
			if err != nil {
				return err
			}
			if asJSON {
				return printStreamJSON(env.Stdout, d)
			}
			return printStream(env.Stdout, d)
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printStreamJSON(out io.Writer, d *types.StreamDescription) error {
	type shard struct {
		ID     string `json:"id"`
		Parent string `json:"parent,omitempty"`
		First  string `json:"first"`
		Last   string `json:"last,omitempty"` // of a closed shard
	}
	stream := struct {
		ARN     string     `json:"arn"`
		Table   string     `json:"table"`
		Status  string     `json:"status"`
		View    string     `json:"view"`
		Created *time.Time `json:"created,omitempty"`
		Shards  []shard    `json:"shards"`
	}{aws.ToString(d.StreamArn), aws.ToString(d.TableName), string(d.StreamStatus), string(d.StreamViewType), d.CreationRequestDateTime, []shard{}}
	for _, s := range d.Shards {
		of := shard{ID: aws.ToString(s.ShardId), Parent: aws.ToString(s.ParentShardId)}
		if r := s.SequenceNumberRange; r != nil {
			of.First, of.Last = aws.ToString(r.StartingSequenceNumber), aws.ToString(r.EndingSequenceNumber)
		}
		stream.Shards = append(stream.Shards, of)
	}
	return json.NewEncoder(out).Encode(stream)
}

func printStream(out io.Writer, d *types.StreamDescription) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "stream\t%s\n", aws.ToString(d.StreamArn))
	fmt.Fprintf(w, "table\t%s\n", aws.ToString(d.TableName))
	fmt.Fprintf(w, "status\t%s\n", d.StreamStatus)
	fmt.Fprintf(w, "view\t%s\n", d.StreamViewType)
	if d.CreationRequestDateTime != nil {
		fmt.Fprintf(w, "created\t%s\n", d.CreationRequestDateTime.UTC().Format(time.RFC3339))
	}
	for _, k := range d.KeySchema {
		fmt.Fprintf(w, "key\t%s (%s)\n", aws.ToString(k.AttributeName), k.KeyType)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nSHARD\tPARENT\tFIRST\tLAST\n")
	for _, s := range d.Shards {
		first, last := "-", "-"
		if r := s.SequenceNumberRange; r != nil {
			first, last = cmp.Or(aws.ToString(r.StartingSequenceNumber), first), cmp.Or(aws.ToString(r.EndingSequenceNumber), last)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", aws.ToString(s.ShardId), cmp.Or(aws.ToString(s.ParentShardId), "-"), first, last)
	}
	return w.Flush()
}
