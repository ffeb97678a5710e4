// Package metamorphic runs one random history of operations on several variants of the database, whose responses must be
// equal: in memory, on disk, in PostgreSQL, reopened repeatedly, read in pages of any size, with and without indexes. A
// failure prints the seed; run it again with
//
//	go test ./test/metamorphic -seed N -steps N
package metamorphic

import (
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "seed of the history; 0 draws one")
	stepsFlag = flag.Int("steps", 1500, "operations in the history")
)

// variant is one way to run a history.
type variant struct {
	name         string
	onDisk       bool
	inPostgres   bool
	restartEvery int   // steps between restarts, 0: never
	pageSize     int32 // Limit of queries and scans, 0: none
	noIndexes    bool

	openElsewhere func(*monotable.Options) (*monotable.DB, error) // nil: in one of these
}

var variants = []variant{
	{name: "memory"},
	{name: "memory, pages of 1", pageSize: 1},
	{name: "memory, pages of 3, no indexes", pageSize: 3, noIndexes: true},
	{name: "disk", onDisk: true},
	{name: "disk, restarts, pages of 2", onDisk: true, restartEvery: 150, pageSize: 2},
	{name: "disk, restarts, no indexes", onDisk: true, restartEvery: 400, noIndexes: true},
	{name: "PostgreSQL, restarts, pages of 2", inPostgres: true, restartEvery: 300, pageSize: 2},
}

// postgres is the server of the variants in PostgreSQL.
var postgres *postgrestest.Server

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(postgrestest.Run(func(s *postgrestest.Server) int {
		postgres = s
		return m.Run()
	}))
}

// subject is a database under one variant.
type subject struct {
	variant variant
	db      *monotable.DB
	dir     string
	client  *dynamodb.Client
	table   string
}

func TestHistory(t *testing.T) { compare(t, variants) }

// compare runs one history under each variant.
func compare(t *testing.T, variants []variant) {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d, %d steps", seed, *stepsFlag)
	history := newHistory(rand.New(rand.NewPCG(seed, 0)), *stepsFlag)
	var want []string
	for _, v := range variants {
		got := responses(t, v, history, seed)
		if want == nil {
			want = got
			continue
		}
		for i, op := range history {
			if op.index && v.noIndexes {
				continue
			}
			if diff := cmp.Diff(want[i], got[i]); diff != "" {
				t.Fatalf("seed %d, step %d: %s\n%q responds differently from %q (-/+):\n%s", seed, i, op.text, v.name, variants[0].name, diff)
			}
		}
	}
}

// responses runs the history and returns the result of each step.
func responses(t *testing.T, v variant, history []operation, seed uint64) []string {
	t.Helper()
	s := &subject{variant: v, dir: t.TempDir(), table: "history"}
	s.open(t)
	s.createTable(t)
	got := make([]string, len(history))
	for i, op := range history {
		if v.restartEvery > 0 && i%v.restartEvery == v.restartEvery-1 {
			s.close(t)
			s.open(t)
		}
		if !op.index || !v.noIndexes {
			got[i] = op.run(t.Context(), s)
		}
	}
	s.looksBack(t, seed)
	s.close(t)
	return got
}

func (s *subject) open(t *testing.T) {
	t.Helper()
	var err error
	options := &monotable.Options{Durability: monotable.DurabilityNone}
	switch {
	case s.variant.onDisk:
		s.db, err = monotable.Open(s.dir, options)
	case s.variant.inPostgres:
		s.db, err = monotable.OpenStore(t.Context(), postgrestest.URL("history", postgres), options)
	case s.variant.openElsewhere != nil:
		s.db, err = s.variant.openElsewhere(options)
	default:
		s.db, err = monotable.OpenMemory(options)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.client = s.db.Client()
}

func (s *subject) close(t *testing.T) {
	t.Helper()
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
}

func (s *subject) limit() *int32 {
	if s.variant.pageSize == 0 {
		return nil
	}
	return aws.Int32(s.variant.pageSize)
}

// createTable creates the table, with a local and a global index unless the variant has none.
func (s *subject) createTable(t *testing.T) {
	t.Helper()
	in := &dynamodb.CreateTableInput{
		TableName: &s.table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeN},
		},
		KeySchema: keySchema("pk", "sk"),
		// replayed reads the change log from its beginning.
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
		},
	}
	if !s.variant.noIndexes {
		all := &types.Projection{ProjectionType: types.ProjectionTypeAll}
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: aws.String("owner"), AttributeType: types.ScalarAttributeTypeS},
			types.AttributeDefinition{AttributeName: aws.String("rank"), AttributeType: types.ScalarAttributeTypeN},
		)
		in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{
			{IndexName: aws.String("byOwner"), KeySchema: keySchema("owner", "rank"), Projection: all},
		}
		in.LocalSecondaryIndexes = []types.LocalSecondaryIndex{
			{IndexName: aws.String("byRank"), KeySchema: keySchema("pk", "rank"), Projection: all},
		}
	}
	if _, err := s.client.CreateTable(context.WithoutCancel(t.Context()), in); err != nil {
		t.Fatal(err)
	}
}

func keySchema(partition, sort string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: &partition, KeyType: types.KeyTypeHash},
		{AttributeName: &sort, KeyType: types.KeyTypeRange},
	}
}
