package provision_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

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
