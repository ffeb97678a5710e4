package patterns_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/test/generated/patterns"
)

var begin = time.Date(2024, 1, 15, 10, 0, 0, 0, time.UTC)

const tableName = "patterns-test"

// open opens a database with the tables; change changes the Config, whose clock does not move.
func open(t *testing.T, change ...func(*patterns.Config)) (*patterns.DB, *dynamodb.Client) {
	t.Helper()
	client := monotabletest.New(t).Client()
	config := patterns.Config{Table: tableName, CursorKey: bytes.Repeat([]byte("k"), 32), Clock: func() time.Time { return begin }}
	for _, f := range change {
		f(&config)
	}
	for _, in := range patterns.CreateTables(config) {
		if _, err := client.CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	db, err := patterns.New(client, config)
	if err != nil {
		t.Fatal(err)
	}
	return db, client
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fails(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
