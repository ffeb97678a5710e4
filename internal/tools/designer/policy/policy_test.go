package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
	"github.com/monotable/monotable/internal/tools/designer/policy"
)

const shop = `design: 1
name: Shop
workload: { region: eu-west-1 }
tables: { Shop: { key: { pk: PK, sk: SK } } }
entities:
  Order:
    key: { pk: "USER#{userId}", sk: "ORDER#{orderId}" }
    fields: { userId: id, orderId: ulid, status: text }
    volume: { count: 1000000000, size: 1000 }
reads:
  ByStatus: { many: Order, by: [status], page: 10, rate: 1 }
`

func parse(t *testing.T, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("monotable.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func findings(t *testing.T, text string, now time.Time) check.Findings {
	t.Helper()
	d, err := design.Parse("shop.design.yaml", []byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, text).Check(d, now)
}

func of(found check.Findings, rule string) *check.Finding {
	for i := range found {
		if found[i].Rule == rule {
			return &found[i]
		}
	}
	return nil
}

func TestCheck(t *testing.T) {
	last := time.Date(2027, 3, 31, 23, 59, 0, 0, time.UTC)
	if f := of(findings(t, "rules: { ST201: warning }", last), "ST201"); f == nil || f.Severity != check.Warning {
		t.Errorf("milder: %+v", f)
	}
	if f := of(findings(t, "rules: { ST201: off }", last), "ST201"); f == nil || f.Accepted != "off in monotable.yaml" {
		t.Errorf("off: %+v", f)
	}
	const accept = `accept: [{ rule: ST201, in: ByStatus, reason: Once a night., owner: ana, until: 2027-03-31 }]`
	if f := of(findings(t, accept, last), "ST201"); f == nil || f.Accepted != "Once a night. (ana, until 2027-03-31)" {
		t.Errorf("accepted: %+v", f)
	}
	if f := of(findings(t, accept, last.Add(time.Minute)), "ST201"); f == nil || f.Accepted != "" || !strings.Contains(f.Message, "expired on") {
		t.Errorf("expired: %+v", f)
	}
	if f := of(findings(t, "regions: [us-east-1]", last), policy.Rule); f == nil || f.Severity != check.Error {
		t.Errorf("region: %+v", f)
	}
	if f := of(findings(t, "regions: [eu-west-1]", last), policy.Rule); f != nil {
		t.Errorf("region: %+v", f)
	}
	if f := of(findings(t, "budget: 0.01", last), "ST802"); f == nil {
		t.Error("the budget is not held")
	}
	const stale = `accept: [{ rule: ST101, in: Order, design: Shop, reason: r, owner: ana, until: 2027-03-31 }]`
	if f := of(findings(t, stale, last), policy.Rule); f == nil {
		t.Error("an acceptance without a finding is not reported")
	}
}

func TestParse(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"rule: {}", "unknown field"},
		{"rules: { ST999: off }", "unknown rule ST999"},
		{"budget: .nan", "not an amount"},
		{"budget: .inf", "not an amount"},
		{"budget: -1", "not an amount"},
		{"budget: cheap", `[1:9] "cheap" is not a number`},
		{"rules: { ST201: never }", "want error, warning, info or off"},
		{"rules: { ST205: off }", "DynamoDB itself rejects"},
		{"accept: [{ rule: ST205, in: A, reason: r, owner: o, until: 2027-01-01 }]", "cannot be accepted"},
		{"accept: [{ rule: ST201, in: A, owner: o, until: 2027-01-01 }]", "reason is missing"},
		{"accept: [{ rule: ST201, in: A, reason: r, owner: o, until: tomorrow }]", "want a date"},
		{"designs: [/etc/x]", "is not a path"},
		{"rules: [", ""},
	} {
		if _, err := policy.Parse("monotable.yaml", []byte(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.text, err, test.want)
		}
	}
	if p := parse(t, ""); p.Budget != 0 {
		t.Errorf("an empty policy: %+v", p)
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("monotable.yaml", "budget: 1")
	write("repository/.git/HEAD", "")
	write("repository/services/a/.monotable.yaml", "budget: 2\ndesigns: ['*.design.yaml']")
	write("repository/services/a/a.design.yaml", shop)
	write("repository/services/b/b.design.yaml", shop)
	file := filepath.Join(root, "repository/services/a/a.design.yaml")
	p, err := policy.Find(file)
	if err != nil || p == nil || p.Budget != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	if files, err := p.Files(); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	if p, err := policy.Find(filepath.Join(root, "repository/services/b/b.design.yaml")); p != nil || err != nil {
		t.Errorf("beyond the repository: %+v, %v", p, err)
	}
	write("repository/services/a/monotable.yaml", "")
	if _, err := policy.Find(file); err == nil {
		t.Error("two policies in one directory")
	}
}
