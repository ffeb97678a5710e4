package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spf13/cobra"
)

// importFlags are the flags of the import command.
type importFlags struct {
	transferFlags
	key, sortKey string
	like         string
	format       string
	compression  string
	delimiter    string
	header       []string
}

func newImport(env Environment) *cobra.Command {
	var flags importFlags
	cmd := &cobra.Command{
		Use:   "import TABLE s3://BUCKET[/PREFIX]",
		Short: "Import the objects in a bucket into a new table",
		Long: `Have a running server import all objects with a prefix in a bucket into a new table, using DynamoDB's ImportTable. A
bucket is a directory in the server's --s3-dir, or a bucket at its --s3-endpoint.

The new table has the key given by --key and --sort-key, or the key and global secondary indexes of the table given by
--like. It is billed on demand. Invalid lines are counted and skipped; the server's log says what is wrong with them.
The command waits until the import is complete. If you interrupt it, the import continues in the server.`,
		Example: `  monotable import orders s3://backups/AWSDynamoDB/01795176020000-15161718/data/ --key customer:S --sort-key order:N
  monotable import copy s3://backups/AWSDynamoDB/01795176020000-15161718/data/ --like orders --json
  monotable import films s3://data/films.csv --key id:N --format csv --compression none`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.run(cmd.Context(), env, args[0], args[1])
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&flags.key, "key", "", "partition key of the new table, as `NAME:TYPE`; TYPE is S, N or B")
	cmd.Flags().StringVar(&flags.sortKey, "sort-key", "", "sort key of the new table, as `NAME:TYPE`")
	cmd.Flags().StringVar(&flags.like, "like", "", "`table` whose key and global secondary indexes to use")
	cmd.Flags().StringVar(&flags.format, "format", "json", "json (DynamoDB JSON, one item per line), ion (Amazon Ion text) or csv")
	cmd.Flags().StringVar(&flags.compression, "compression", "gzip", "compression of the objects: gzip, zstd or none")
	cmd.Flags().StringVar(&flags.delimiter, "delimiter", "", "delimiter of CSV: one of , ; : | space or tab (default ,)")
	cmd.Flags().StringSliceVar(&flags.header, "header", nil, "attribute `names` for CSV (default the first line of each object)")
	return cmd
}

func (f *importFlags) run(ctx context.Context, env Environment, table, location string) error {
	in, err := f.request(location)
	if err != nil {
		return err
	}
	client, err := f.client(ctx, env)
	if err != nil {
		return err
	}
	if in.TableCreationParameters, err = f.definition(ctx, client, table); err != nil {
		return err
	}
	begun, err := client.ImportTable(ctx, in)
	if err != nil {
		return err
	}
	arn := begun.ImportTableDescription.ImportArn
	return f.await(ctx, env, "import", func(ctx context.Context) (transferState, error) {
		out, err := client.DescribeImport(ctx, &dynamodb.DescribeImportInput{ImportArn: arn})
		if err != nil {
			return transferState{}, err
		}
		d := out.ImportTableDescription
		partly := aws.ToString(d.FailureCode) == "ItemValidationError" && d.ImportedItemCount > 0 // the summary counts the rejected items
		failed := d.ImportStatus == types.ImportStatusFailed && !partly || d.ImportStatus == types.ImportStatusCancelled
		return transferState{
			transferred: transferred{
				ARN: *arn, Status: string(d.ImportStatus), Items: d.ImportedItemCount, Errors: d.ErrorCount,
				Bytes: aws.ToInt64(d.ProcessedSizeBytes), failure: f.advise(failureOf(failed, d.FailureCode, d.FailureMessage)),
			},
			over: d.ImportStatus != types.ImportStatusInProgress && d.ImportStatus != types.ImportStatusCancelling,
		}, nil
	})
}

// advise adds to a failure how the files were read. A wrong compression is the most common cause, and AWS's message does not say so.
func (f *importFlags) advise(failure string) string {
	if failure == "" {
		return ""
	}
	return fmt.Sprintf("%s (files read with --format %s --compression %s; the server's log has the details)", failure, f.format, f.compression)
}

// request is the request described by the flags, without the table.
func (f *importFlags) request(location string) (*dynamodb.ImportTableInput, error) {
	bucket, prefix, err := parseLocation(location)
	if err != nil {
		return nil, err
	}
	in := &dynamodb.ImportTableInput{S3BucketSource: &types.S3BucketSource{S3Bucket: &bucket, S3KeyPrefix: prefix}}
	switch f.format {
	case "json":
		in.InputFormat = types.InputFormatDynamodbJson
	case "ion":
		in.InputFormat = types.InputFormatIon
	case "csv":
		in.InputFormat = types.InputFormatCsv
	default:
		return nil, fmt.Errorf("--format %q: want json, ion or csv", f.format)
	}
	switch f.compression {
	case "gzip", "zstd", "none":
		in.InputCompressionType = types.InputCompressionType(strings.ToUpper(f.compression))
	default:
		return nil, fmt.Errorf("--compression %q: want gzip, zstd or none", f.compression)
	}
	if f.delimiter == "" && f.header == nil {
		return in, nil
	}
	if f.format != "csv" {
		return nil, errors.New("--delimiter and --header need --format csv")
	}
	options := &types.CsvOptions{HeaderList: f.header}
	switch f.delimiter {
	case "":
	case "space":
		options.Delimiter = aws.String(" ")
	case "tab":
		options.Delimiter = aws.String("\t")
	default:
		options.Delimiter = &f.delimiter
	}
	in.InputFormatOptions = &types.InputFormatOptions{Csv: options}
	return in, nil
}

// definition is the definition of the new table.
func (f *importFlags) definition(ctx context.Context, client *dynamodb.Client, table string) (*types.TableCreationParameters, error) {
	p := &types.TableCreationParameters{TableName: &table, BillingMode: types.BillingModePayPerRequest}
	if (f.key == "") == (f.like == "") || f.like != "" && f.sortKey != "" {
		return nil, errors.New("the new table needs a key: use --key and optionally --sort-key, or --like")
	}
	if f.like != "" {
		return p, defineLike(ctx, client, f.like, p)
	}
	for _, k := range []struct {
		flag, text string
		kind       types.KeyType
	}{{"key", f.key, types.KeyTypeHash}, {"sort-key", f.sortKey, types.KeyTypeRange}} {
		if k.text == "" {
			continue
		}
		name, kind, _ := strings.Cut(k.text, ":")
		if name == "" || kind != "S" && kind != "N" && kind != "B" {
			return nil, fmt.Errorf("--%s %q: want NAME:TYPE, like id:S; TYPE is S, N or B", k.flag, k.text)
		}
		p.KeySchema = append(p.KeySchema, types.KeySchemaElement{AttributeName: &name, KeyType: k.kind})
		p.AttributeDefinitions = append(p.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: &name, AttributeType: types.ScalarAttributeType(kind),
		})
	}
	return p, nil
}

// defineLike copies the key and global secondary indexes of a table.
func defineLike(ctx context.Context, client *dynamodb.Client, table string, p *types.TableCreationParameters) error {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return err
	}
	used := map[string]bool{}
	note := func(keys []types.KeySchemaElement) {
		for _, k := range keys {
			used[*k.AttributeName] = true
		}
	}
	p.KeySchema = out.Table.KeySchema
	note(p.KeySchema)
	for i := range out.Table.GlobalSecondaryIndexes {
		x := &out.Table.GlobalSecondaryIndexes[i]
		note(x.KeySchema)
		p.GlobalSecondaryIndexes = append(p.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: x.IndexName, KeySchema: x.KeySchema, Projection: x.Projection,
		})
	}
	for _, a := range out.Table.AttributeDefinitions {
		if used[*a.AttributeName] { // except those of local indexes, which an import cannot create
			p.AttributeDefinitions = append(p.AttributeDefinitions, a)
		}
	}
	return nil
}
