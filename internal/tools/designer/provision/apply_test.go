package provision_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/provision"
	"github.com/monotable/monotable/monotabletest"
)

// apply applies a design to a database and returns the reported steps, and the error.
func apply(t *testing.T, client *dynamodb.Client, text string) (string, error) {
	t.Helper()
	d, err := design.Parse("shop.design.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	err = provision.Apply(t.Context(), client, provision.Specs(d, map[string]string{"stage": "dev"}), func(format string, args ...any) {
		fmt.Fprintf(&said, format+"\n", args...)
	})
	return said.String(), err
}

func TestApply(t *testing.T) {
	client := monotabletest.New(t).Client()
	first, err := apply(t, client, shop)
	if err != nil {
		t.Fatal(err)
	}
	want := "shop-dev: created with 2 indexes\nshop-dev: items expire by expires_at\ncounters: created with 0 indexes\n"
	if first != want {
		t.Errorf("the first time it said %q, want %q", first, want)
	}
	out, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("shop-dev")})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(out.Table.GlobalSecondaryIndexes[0].KeySchema); n != 4 || out.Table.LatestStreamArn == nil {
		t.Errorf("the index has %d key attributes, want 4; the stream is %v", n, out.Table.LatestStreamArn)
	}
	again, err := apply(t, client, shop)
	if want := "shop-dev: matches the design\ncounters: matches the design\n"; again != want || err != nil {
		t.Errorf("the second time it said %q (%v), want %q", again, err, want)
	}
	more := strings.Replace(shop, "      byTotal:", "      byOwner: { pk: owner, sk: SK, project: keys }\n      byTotal:", 1)
	more = strings.Replace(more, "createdAt: time, ", "createdAt: time, owner: id, ", 1)
	added, err := apply(t, client, more)
	if !strings.Contains(added, "adding the index byOwner") || err != nil {
		t.Errorf("a new index: said %q (%v)", added, err)
	}
	left, err := apply(t, client, shop)
	if !strings.Contains(left, "the index byOwner is not in the design; it is not changed") || err != nil {
		t.Errorf("an index too many: said %q (%v)", left, err)
	}
}

// TestApplyRefuses tests changes that are impossible in place.
func TestApplyRefuses(t *testing.T) {
	client := monotabletest.New(t).Client()
	if _, err := apply(t, client, shop); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"primary key": {"key: { pk: PK, sk: SK }", "key: { pk: PK, sk: RANGE }", "a key cannot change"},
		"index key":   {`pk: [shop_id, status], sk: ["created_at", "total:N"]`, `pk: [shop_id], sk: ["created_at"]`, "its index byStatus has the key"},
		"projection":  {"project: [total, createdAt]", "project: all", "a projection cannot change"},
		"local index": {"byTotal:", "byDate: { local: true, sk: created_at, project: keys }\n      byTotal:", "only be created with its table"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := apply(t, client, strings.Replace(shop, c.old, c.new, 1)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
	d, err := design.Parse("shop.design.yaml", []byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	if err := provision.Apply(t.Context(), client, provision.Specs(d, nil), nil); err == nil || !strings.Contains(err.Error(), "--set stage=") {
		t.Errorf("placeholders left: %v", err)
	}
}

// existing creates the table of shop in another way.
func existing(t *testing.T, client *dynamodb.Client, change func(*dynamodb.CreateTableInput)) {
	t.Helper()
	in := &dynamodb.CreateTableInput{
		TableName: aws.String("shop-dev"), BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("SK"), KeyType: types.KeyTypeRange},
		},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("PK"), AttributeType: "S"}, {AttributeName: aws.String("SK"), AttributeType: "S"},
		},
	}
	change(in)
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// global is shop without its local index, which can only be created with the table.
var global = strings.NewReplacer("      byTotal: { local: true, sk: \"total:N\", project: keys }\n", "", ", byTotal: {}", "").Replace(shop)

// TestApplyToOther applies the design to tables that were created otherwise.
func TestApplyToOther(t *testing.T) {
	provisioned := &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(1), WriteCapacityUnits: aws.Int64(1)}
	for name, c := range map[string]struct {
		change     func(*dynamodb.CreateTableInput)
		old, new   string // replaced in the design
		said, want string
	}{
		"on demand, not provisioned": {
			change: func(*dynamodb.CreateTableInput) {},
			said:   "shop-dev: adding the index byStatus\nshop-dev: its billing is on-demand, but the design's is provisioned; it is not changed\n",
		},
		"provisioned, not on demand": {
			change: func(in *dynamodb.CreateTableInput) {
				in.BillingMode, in.ProvisionedThroughput = types.BillingModeProvisioned, provisioned
			},
			old: "billing: provisioned", new: "billing: on-demand",
			said: "shop-dev: adding the index byStatus\nshop-dev: its billing is provisioned, but the design's is on-demand; it is not changed\n",
		},
		"a key of another type": {
			change: func(in *dynamodb.CreateTableInput) { in.AttributeDefinitions[1].AttributeType = "N" },
			want:   "its primary key is (PK HASH, SK:N RANGE), but the design's is (PK HASH, SK RANGE)",
		},
		"an index key of another type": {
			change: func(in *dynamodb.CreateTableInput) {
				in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("total"), AttributeType: "S"})
				in.LocalSecondaryIndexes = []types.LocalSecondaryIndex{{
					IndexName: aws.String("byTotal"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
					KeySchema: []types.KeySchemaElement{in.KeySchema[0], {AttributeName: aws.String("total"), KeyType: types.KeyTypeRange}},
				}}
			},
			want: "its index byTotal has the key (PK HASH, total RANGE), but the design's is (PK HASH, total:N RANGE)",
		},
		"a global index instead of a local one": {
			change: func(in *dynamodb.CreateTableInput) {
				in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("total"), AttributeType: "N"})
				in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
					IndexName: aws.String("byTotal"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
					KeySchema: []types.KeySchemaElement{in.KeySchema[0], {AttributeName: aws.String("total"), KeyType: types.KeyTypeRange}},
				}}
			},
			want: "its index byTotal is global, but the design's is local",
		},
		"a stream of another view": {
			change: func(in *dynamodb.CreateTableInput) {
				in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly}
			},
			want: "its stream has KEYS_ONLY, but the design's has NEW_IMAGE",
		},
		"a stream with more": {
			change: func(in *dynamodb.CreateTableInput) {
				in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages}
			},
			said: "shop-dev: adding the index byStatus\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := monotabletest.New(t).Client()
			existing(t, client, c.change)
			text := global
			if strings.Contains(c.want, "byTotal") {
				text = shop
			}
			said, err := apply(t, client, strings.Replace(text, c.old, c.new, 1))
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			if !strings.HasPrefix(said, c.said) {
				t.Errorf("said %q, want %q first", said, c.said)
			}
			if c.want != "" && strings.Contains(said, "shop-dev: ") {
				t.Errorf("it cannot be made to match, but was changed: %q", said)
			}
		})
	}
}

// TestApplyWaits tests a table that is still being created, such as by an interrupted run.
func TestApplyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := monotabletest.NewWith(t, &monotable.Options{TableDelay: time.Minute}).Client()
		existing(t, client, func(*dynamodb.CreateTableInput) {})
		said, err := apply(t, client, global)
		if want := "shop-dev: waiting for a change in progress\nshop-dev: adding the index byStatus\n"; err != nil || !strings.HasPrefix(said, want) {
			t.Errorf("said %q (%v), want %q first", said, err, want)
		}
		if _, err := client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("shop-dev")}); err != nil {
			t.Fatal(err)
		}
		if _, err := apply(t, client, global); err == nil || !strings.Contains(err.Error(), "it is being deleted: try again when it is gone") {
			t.Errorf("a table that is being deleted: %v", err)
		}
	})
}

// TestApplyNothing tests that no table is created if the name of a later one has placeholders.
func TestApplyNothing(t *testing.T) {
	client := monotabletest.New(t).Client()
	said, err := apply(t, client, strings.Replace(shop, "  counters:\n", "  counters:\n    name: \"counters-{region}\"\n", 1))
	if said != "" || err == nil || !strings.Contains(err.Error(), "--set region=") {
		t.Errorf("said %q (%v), want only an error", said, err)
	}
}
