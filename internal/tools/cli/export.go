package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spf13/cobra"
)

// exportFlags are the flags of the export command.
type exportFlags struct {
	transferFlags
	at, since, until string
	newImages        bool
	enableRecovery   bool
	format           string
}

func newExport(env Environment) *cobra.Command {
	var flags exportFlags
	cmd := &cobra.Command{
		Use:   "export TABLE s3://BUCKET[/PREFIX]",
		Short: "Export a table, as of a point in time, to a bucket",
		Long: `Have a running server export a table to a bucket: its current state, its state at another second of the recovery
period (--time), or its changes since a time (--since). The objects have the format of DynamoDB's
ExportTableToPointInTime. A bucket is a directory in the server's --s3-dir, or a bucket at its --s3-endpoint.

The table must have point-in-time recovery; --enable-recovery turns it on. The command waits until the export is
complete. If you interrupt it, the export continues in the server.`,
		Example: `  monotable export orders s3://backups/orders
  monotable export orders s3://backups --enable-recovery --json
  monotable export orders s3://backups --time 2026-11-21T15:00:00Z
  monotable export orders s3://backups --since 2026-11-21T15:00:00Z --until 2026-11-21T16:00:00Z`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.run(cmd.Context(), env, args[0], args[1])
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&flags.at, "time", "", "export the state of the table at this `time`, like 2026-11-21T15:04:05Z (default now)")
	cmd.Flags().StringVar(&flags.since, "since", "", "export items changed at or after this `time`, and before --until")
	cmd.Flags().StringVar(&flags.until, "until", "", "end of --since (default now)")
	cmd.Flags().BoolVar(&flags.newImages, "new-images", false, "with --since, omit the old images of items")
	cmd.Flags().BoolVar(&flags.enableRecovery, "enable-recovery", false, "turn on point-in-time recovery if it is off")
	cmd.Flags().StringVar(&flags.format, "format", "json", "json (DynamoDB JSON, one item per line) or ion (Amazon Ion text)")
	return cmd
}

func (f *exportFlags) run(ctx context.Context, env Environment, table, location string) error {
	in, err := f.request(location)
	if err != nil {
		return err
	}
	client, err := f.client(ctx, env)
	if err != nil {
		return err
	}
	described, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return err
	}
	if f.enableRecovery {
		if err := enableRecovery(ctx, client, table); err != nil {
			return err
		}
	}
	in.TableArn = described.Table.TableArn
	begun, err := client.ExportTableToPointInTime(ctx, in)
	if off, is := errors.AsType[*types.PointInTimeRecoveryUnavailableException](err); is {
		return fmt.Errorf("%s; turn it on with --enable-recovery", off.ErrorMessage())
	}
	if err != nil {
		return err
	}
	arn := begun.ExportDescription.ExportArn
	return f.await(ctx, env, "export", func(ctx context.Context) (transferState, error) {
		out, err := client.DescribeExport(ctx, &dynamodb.DescribeExportInput{ExportArn: arn})
		if err != nil {
			return transferState{}, err
		}
		d := out.ExportDescription
		failed := d.ExportStatus == types.ExportStatusFailed
		return transferState{
			transferred: transferred{
				ARN: *arn, Status: string(d.ExportStatus), Items: aws.ToInt64(d.ItemCount), Bytes: aws.ToInt64(d.BilledSizeBytes),
				Manifest: aws.ToString(d.ExportManifest), place: "s3://" + *in.S3Bucket + "/" + aws.ToString(d.ExportManifest), failure: failureOf(failed, d.FailureCode, d.FailureMessage),
			},
			over: d.ExportStatus != types.ExportStatusInProgress, total: aws.ToInt64(described.Table.ItemCount),
		}, nil
	})
}

// request is the request described by the flags, without the table.
func (f *exportFlags) request(location string) (*dynamodb.ExportTableToPointInTimeInput, error) {
	in := &dynamodb.ExportTableToPointInTimeInput{}
	bucket, prefix, err := parseLocation(location)
	if err != nil {
		return nil, err
	}
	in.S3Bucket, in.S3Prefix = &bucket, prefix
	switch f.format {
	case "json":
		in.ExportFormat = types.ExportFormatDynamodbJson
	case "ion":
		in.ExportFormat = types.ExportFormatIon
	default:
		return nil, fmt.Errorf("--format %q: want json or ion", f.format)
	}
	if in.ExportTime, err = parseTime("time", f.at); err != nil {
		return nil, err
	}
	if f.since == "" {
		if f.until != "" || f.newImages {
			return nil, errors.New("--until and --new-images need --since")
		}
		return in, nil
	}
	period := &types.IncrementalExportSpecification{ExportViewType: types.ExportViewTypeNewAndOldImages}
	if f.newImages {
		period.ExportViewType = types.ExportViewTypeNewImage
	}
	if period.ExportFromTime, err = parseTime("since", f.since); err != nil {
		return nil, err
	}
	if period.ExportToTime, err = parseTime("until", f.until); err != nil {
		return nil, err
	}
	in.ExportType, in.IncrementalExportSpecification = types.ExportTypeIncrementalExport, period
	return in, nil
}

// enableRecovery turns on point-in-time recovery, unless it is on.
func enableRecovery(ctx context.Context, client *dynamodb.Client, table string) error {
	out, err := client.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &table})
	if err != nil {
		return err
	}
	if r := out.ContinuousBackupsDescription.PointInTimeRecoveryDescription; r.PointInTimeRecoveryStatus == types.PointInTimeRecoveryStatusEnabled {
		return nil
	}
	_, err = client.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
		TableName:                        &table,
		PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)},
	})
	return err
}
