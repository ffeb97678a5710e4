package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spf13/cobra"

	"github.com/monotable/monotable/internal/tools/localfile"
	"github.com/monotable/monotable/internal/tools/tablecopy"
)

type importLocalFlags struct {
	endpoint, region   string
	tables             []string
	existing, progress bool
}

func newImportLocal(env Environment) *cobra.Command {
	var flags importLocalFlags
	cmd := &cobra.Command{
		Use:   "import-local FILE.db",
		Short: "Import tables from a database file of DynamoDB Local",
		Long: `Import tables with their items, indexes, TTL, streams and deletion protection from a file in DynamoDB Local's -dbPath:
shared-local-instance.db with -sharedDb, ACCESSKEY_REGION.db without. Stop DynamoDB Local first. The file is only
read.

Every item is read back from the server and compared. Stream records are not imported, and unknown data is an error.`,
		Example: `  monotable import-local ./dynamodb/shared-local-instance.db
  monotable import-local ./local_us-east-1.db --table shop --endpoint http://127.0.0.1:8000`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return importLocal(cmd.Context(), env, &flags, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.endpoint, "endpoint", "", "`URL` of the server, or aws; default: "+endpointDefaults)
	f.StringVar(&flags.region, "region", "", "region to sign for; default: "+regionDefaults)
	f.StringArrayVar(&flags.tables, "table", nil, "table to import; may be repeated; default: all")
	f.BoolVar(&flags.existing, "existing", false, "write to existing tables, without changing their settings")
	progressFlag(cmd, &flags.progress)
	return cmd
}

func importLocal(ctx context.Context, env Environment, flags *importLocalFlags, path string) (err error) {
	file, err := localfile.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	c, err := connect(ctx, env, connectionFlags{flag: "endpoint", endpoint: flags.endpoint, region: flags.region})
	if err != nil {
		return err
	}
	for _, name := range flags.tables {
		if !slices.ContainsFunc(file.Tables, func(t *localfile.Table) bool { return t.Name == name }) {
			return fmt.Errorf("--table %s: %s has no such table", name, path)
		}
	}
	bar := &copyBar{env: env, progressWanted: flags.progress}
	defer bar.end()
	o := tablecopy.Options{
		To: tablecopy.Endpoint{Name: c.endpoint, Client: c.database()}, Existing: flags.existing, Verify: true, Progress: bar.update,
		Logf: func(format string, args ...any) {
			bar.clear()
			fmt.Fprintf(env.Stdout, format+"\n", args...)
		},
	}
	for _, t := range file.Tables {
		if len(flags.tables) > 0 && !slices.Contains(flags.tables, t.Name) {
			continue
		}
		for _, name := range t.Unknown {
			o.Logf("%s: not imported: the unknown setting %s", t.Name, name)
		}
		if err := tablecopy.Load(ctx, o, loadedOf(file, t)); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return nil
}

func loadedOf(file *localfile.File, t *localfile.Table) tablecopy.Loaded {
	in := dynamodb.CreateTableInput{
		TableName: &t.Name, AttributeDefinitions: t.Definitions, KeySchema: t.Key, GlobalSecondaryIndexes: t.Global, LocalSecondaryIndexes: t.Local,
		BillingMode: types.BillingModePayPerRequest, DeletionProtectionEnabled: &t.DeletionProtection,
	}
	if !t.OnDemand {
		in.BillingMode = types.BillingModeProvisioned
		in.ProvisionedThroughput = &types.ProvisionedThroughput{ReadCapacityUnits: &t.Read, WriteCapacityUnits: &t.Write}
	}
	if t.StreamView != "" {
		in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: t.StreamView}
	}
	return tablecopy.Loaded{Create: in, TTLAttr: t.TTLAttr, Count: t.Count, Items: file.Items(t)}
}
