package enforce_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/tools/designer/attach"
	"github.com/monotable/monotable/internal/tools/designer/enforce"
	"github.com/monotable/monotable/monotabletest"
)

// TestRulesFollowTheDesign tests that attaching and detaching take effect after a second, and that a design that cannot be
// read rejects all items.
func TestRulesFollowTheDesign(t *testing.T) {
	t.Parallel()
	client := monotabletest.New(t).Client()
	text, err := os.ReadFile("../../console/testdata/shop.design.yaml")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_700_000_000, 0)
	rules := enforce.New(enforce.Options{Now: func() time.Time { return now }})
	says := func(step, want string) {
		t.Helper()
		got := ""
		rule, err := rules.Of(t.Context(), client, "shop")
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		if rule != nil {
			if err := rule(map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "x"}}); err != nil {
				got = err.Error()
			}
		}
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", step, got, want)
		}
	}
	attachText := func(text string) {
		t.Helper()
		if _, err := attach.Attach(t.Context(), client, attach.Design{File: "shop.design.yaml", Text: text, At: now, Tables: map[string]string{"shop": "shop"}}); err != nil {
			t.Fatal(err)
		}
	}
	says("no design", "")
	attachText(string(text))
	says("within the second", "")
	now = now.Add(time.Second)
	says("attached", "shop.design.yaml, version 1")
	attachText("design: 1\nname: [")
	now = now.Add(time.Second)
	says("not readable", "version 2 of the design that is attached to table shop cannot be read")
	if _, err := attach.Detach(t.Context(), client, "shop", now); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Second)
	says("detached", "")
}
