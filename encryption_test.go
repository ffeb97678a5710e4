package monotable_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// TestSSEDescription: tables are described as requested, and if that does not match the data directory a warning is logged, once
// for each table and at each start.
func TestSSEDescription(t *testing.T) {
	for _, c := range []struct {
		name string
		open func(dir string, o monotable.Options) (*monotable.DB, error)
		warn bool
	}{
		{"not encrypted", func(dir string, o monotable.Options) (*monotable.DB, error) { return monotable.Open(dir, &o) }, true},
		{"encrypted", func(dir string, o monotable.Options) (*monotable.DB, error) {
			o.Encrypt, o.MasterKey = true, bytes.Repeat([]byte{1}, 32)
			return monotable.Open(dir, &o)
		}, false},
		{"in memory", func(_ string, o monotable.Options) (*monotable.DB, error) { return monotable.OpenMemory(&o) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, log := t.TempDir(), new(bytes.Buffer)
			open := func() *monotable.DB {
				t.Helper()
				db, err := c.open(dir, monotable.Options{Logger: slog.New(slog.NewTextHandler(log, nil)), Regions: []string{"us-east-1", "eu-west-1"}})
				if err != nil {
					t.Fatal(err)
				}
				return db
			}
			warned := func(want ...string) {
				t.Helper()
				text := log.String()
				log.Reset()
				if !c.warn {
					want = nil
				}
				if got := strings.Count(text, "encryption at rest:"); got != len(want) {
					t.Errorf("%d warnings, want %d: %s", got, len(want), text)
				}
				for _, w := range want {
					if !strings.Contains(text, w) {
						t.Errorf("no warning of %s: %s", w, text)
					}
				}
			}
			db := open()
			client := db.Client()
			create := func(name string, asked *types.SSESpecification) *types.SSEDescription {
				t.Helper()
				out, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
					TableName: &name, BillingMode: types.BillingModePayPerRequest, SSESpecification: asked,
					AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
					KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
				})
				if err != nil {
					t.Fatal(err)
				}
				return out.TableDescription.SSEDescription
			}
			if got := create("plain", nil); got != nil {
				t.Errorf("a table that asks for nothing is described as %+v", got)
			}
			warned()
			got := create("asking", &types.SSESpecification{Enabled: aws.Bool(true)})
			if got == nil || got.Status != types.SSEStatusEnabled || got.SSEType != types.SSETypeKms || aws.ToString(got.KMSMasterKeyArn) == "" {
				t.Errorf("a table that asks is described as %+v", got)
			}
			warned("table=asking")
			update := func(name string, asked types.SSESpecification) {
				t.Helper()
				if _, err := client.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: &name, SSESpecification: &asked}); err != nil {
					t.Fatal(err)
				}
			}
			update("plain", types.SSESpecification{Enabled: aws.Bool(true), SSEType: types.SSETypeKms, KMSMasterKeyId: aws.String("alias/mine")})
			warned("key=arn:aws:kms:us-east-1:000000000000:alias/mine")
			update("plain", types.SSESpecification{Enabled: aws.Bool(false)})
			warned()
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			warned()
			if c.name == "in memory" {
				return
			}
			db = open()
			warned("among_them=[asking]")
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestInterruptedRotation: a start with a new master key that is interrupted between the keys of files and that of secrets can be
// repeated; the new key alone gives an error that says what is missing, and loses nothing.
func TestInterruptedRotation(t *testing.T) {
	dir, one, two := t.TempDir(), bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	var ana aws.CredentialsProvider
	t.Run("before", func(t *testing.T) {
		g := openGuarded(t, dir, monotable.Options{Encrypt: true, MasterKey: one})
		g.manage(monotable.IAMRequest{Action: "policy create", Name: "all", Document: allowTables})
		ana = g.user("ana", "all")
	})
	store, err := pebblekv.Open(dir, pebblekv.Options{MasterKey: two, PreviousMasterKey: one, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]monotable.Options{
		"the new key alone": {MasterKey: two}, "the old key alone": {MasterKey: one},
	} {
		o.Auth = &monotable.Auth{Required: true}
		if _, err := monotable.Open(dir, &o); err == nil || !strings.Contains(err.Error(), "--previous-master-key") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, o := range []monotable.Options{{MasterKey: two, PreviousMasterKey: one}, {MasterKey: two}} {
		t.Run("after", func(t *testing.T) {
			g := openGuarded(t, dir, o)
			g.want("user", g.lists(ana), "")
		})
	}
}
