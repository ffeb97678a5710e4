package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/server"
	"github.com/monotable/monotable/internal/httpguard"
)

const deploy = "../../../deploy"

// described is the information in a metric's description.
type described struct{ labels []string }

var descPattern = regexp.MustCompile(`^Desc\{fqName: "([^"]+)", help: ".*", constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}\}$`)

// everyMetric returns all metrics of a server, by name.
func everyMetric(t *testing.T) map[string]described {
	t.Helper()
	db, err := monotable.Open(filepath.Join(t.TempDir(), "db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	m := newMonitor()
	m.opened(db)
	descs := make(chan *prometheus.Desc)
	go func() {
		defer close(descs)
		m.registry.Describe(descs)
	}()
	found := map[string]described{}
	for desc := range descs {
		parts := descPattern.FindStringSubmatch(desc.String())
		if parts == nil {
			t.Fatalf("cannot read %s", desc)
		}
		var labels []string
		for label := range strings.SplitSeq(parts[2]+","+parts[3], ",") {
			if name, _, _ := strings.Cut(label, "="); name != "" {
				labels = append(labels, name)
			}
		}
		slices.Sort(labels)
		found[parts[1]] = described{labels}
	}
	return found
}

var rowPattern = regexp.MustCompile("(?m)^\\| `(monotable_[a-z0-9_]+)` \\| (counter|gauge|histogram) \\| ([a-z, ]*) \\| ([^|]+) \\| [^|]*\\|$")

// TestMetricsPage tests that docs/metrics.md has a row for every metric, with its labels, and for no other.
func TestMetricsPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string][]string{}
	for _, row := range rowPattern.FindAllStringSubmatch(string(page), -1) {
		name, kind := row[1], row[2]
		if (kind == "counter") != strings.HasSuffix(name, "_total") {
			t.Errorf("%s is said to be a %s", name, kind)
		}
		labels := strings.FieldsFunc(row[3], func(r rune) bool { return r == ',' || r == ' ' })
		slices.Sort(labels)
		if documented[name] != nil {
			t.Errorf("%s has two rows", name)
		}
		documented[name] = append([]string{}, labels...)
	}
	existing := map[string][]string{}
	for name, d := range everyMetric(t) {
		if strings.HasPrefix(name, "monotable_") {
			existing[name] = append([]string{}, d.labels...)
		}
	}
	if diff := cmp.Diff(existing, documented); diff != "" {
		t.Errorf("the metrics that exist (-) and those of docs/metrics.md (+):\n%s", diff)
	}
}

// query has the names in a PromQL expression.
type query struct{ metrics, labels map[string]bool }

var (
	stringPattern   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	rangePattern    = regexp.MustCompile(`\[[^\]]*\]`)
	selectorPattern = regexp.MustCompile(`\{([^}]*)\}`)
	groupPattern    = regexp.MustCompile(`\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
	wordPattern     = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*\s*\(?`)
	matcherPattern  = regexp.MustCompile(`([a-zA-Z_]+)\s*(?:=~|!~|!=|=)`)
)

// parseQuery finds the names in an expression. It is not a parser: every word that is not a label, function or operator
// counts as a metric.
func parseQuery(expr string) (query, error) {
	q := query{map[string]bool{}, map[string]bool{}}
	if strings.Count(expr, "(") != strings.Count(expr, ")") {
		return q, fmt.Errorf("%s: parentheses do not match", expr)
	}
	rest := rangePattern.ReplaceAllString(stringPattern.ReplaceAllString(expr, ""), "")
	for _, selector := range selectorPattern.FindAllStringSubmatch(rest, -1) {
		for _, matcher := range matcherPattern.FindAllStringSubmatch(selector[1], -1) {
			q.labels[matcher[1]] = true
		}
	}
	rest = selectorPattern.ReplaceAllString(rest, "")
	for _, group := range groupPattern.FindAllStringSubmatch(rest, -1) {
		for label := range strings.SplitSeq(group[1], ",") {
			q.labels[strings.TrimSpace(label)] = true
		}
	}
	rest = groupPattern.ReplaceAllString(rest, "")
	for _, word := range wordPattern.FindAllString(rest, -1) {
		switch word := strings.TrimSpace(word); {
		case strings.HasSuffix(word, "("), word == "and", word == "or", word == "unless", word == "by":
		default:
			q.metrics[word] = true
		}
	}
	if len(q.metrics) == 0 {
		return q, fmt.Errorf("%s: names no metric", expr)
	}
	return q, nil
}

// checkQuery finds names in an expression that do not exist.
func checkQuery(expr string, existing map[string]described) error {
	q, err := parseQuery(expr)
	if err != nil {
		return err
	}
	labels := map[string]bool{"instance": true, "job": true}
	for name := range q.metrics {
		base := name
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if cut, ok := strings.CutSuffix(name, suffix); ok && strings.HasSuffix(cut, "_seconds") {
				base = cut
				labels["le"] = true
			}
		}
		metric, ok := existing[base]
		if !ok && name != "up" { // Prometheus's own
			return fmt.Errorf("%s: there is no metric %s", expr, name)
		}
		for _, label := range metric.labels {
			labels[label] = true
		}
	}
	for label := range q.labels {
		if !labels[label] {
			return fmt.Errorf("%s: none of the metrics has a label %s", expr, label)
		}
	}
	return nil
}

// TestQueryCheck tests the check on which the tests below rely.
func TestQueryCheck(t *testing.T) {
	existing := map[string]described{"monotable_a_total": {[]string{"table"}}, "monotable_b_seconds": {}}
	for expr, want := range map[string]string{
		`rate(monotable_a_total{table="x"}[5m]) > 0.05`:                                    "",
		`histogram_quantile(0.99, sum by (le) (rate(monotable_b_seconds_bucket[5m]))) > 1`: "",
		`time() - monotable_b_seconds > 1 and on (instance) up == 1`:                       "",
		`rate(monotable_c_total[5m])`:                                                      "there is no metric monotable_c_total",
		`monotable_a_total_bucket`:                                                         "there is no metric monotable_a_total_bucket",
		`sum by (index) (monotable_a_total)`:                                               "none of the metrics has a label index",
		`monotable_a_total{shard=~"x"}`:                                                    "none of the metrics has a label shard",
		`sum(monotable_a_total`:                                                            "parentheses do not match",
		`vector(1)`:                                                                        "names no metric",
		`monotable_a_total{table="monotable_unknown"} or monotable_b_seconds{instance="(x)"}`: "",
	} {
		err := checkQuery(expr, existing)
		if (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", expr, err, want)
		}
	}
}

// TestAlerts tests that the rules only use existing metrics, and say what to do, and that there is a rule for everything that can fall
// behind.
func TestAlerts(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(deploy, "prometheus", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	existing, seen := everyMetric(t), map[string]bool{}
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			if err := checkQuery(rule.Expr, existing); err != nil {
				t.Errorf("%s: %v", rule.Alert, err)
			}
			if seen[rule.Alert] || !regexp.MustCompile(`^Monotable[A-Za-z]+$`).MatchString(rule.Alert) {
				t.Errorf("%q is not a valid name, or occurs twice", rule.Alert)
			}
			seen[rule.Alert] = true
			if !slices.Contains([]string{"page", "ticket"}, rule.Labels["severity"]) {
				t.Errorf("%s: severity %q", rule.Alert, rule.Labels["severity"])
			}
			if names := slices.Sorted(maps.Keys(rule.Annotations)); !slices.Equal(names, []string{"description", "summary"}) {
				t.Errorf("%s: annotations %v", rule.Alert, names)
			}
			if !strings.ContainsAny(rule.Expr, "<>=") {
				t.Errorf("%s has no threshold: %s", rule.Alert, rule.Expr)
			}
		}
	}
	for name := range existing {
		if regexp.MustCompile(`_(lag|age)_seconds$`).MatchString(name) && !bytes.Contains(text, []byte("expr: "+name+" >")) {
			t.Errorf("there is no alert for %s", name)
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d alerts were read", len(seen))
	}
}

// TestDashboard tests that the panels only use existing metrics, and do not overlap.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(deploy, "grafana", "monotable.json"))
	if err != nil {
		t.Fatal(err)
	}
	type position struct{ H, W, X, Y int }
	var dashboard struct {
		Title, UID    string
		SchemaVersion int
		Templating    struct {
			List []struct{ Name, Definition string }
		}
		Panels []struct {
			ID          int
			Type, Title string
			GridPos     position
			Targets     []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	existing := everyMetric(t)
	variables := map[string]bool{"__rate_interval": true}
	for _, v := range dashboard.Templating.List {
		variables[v.Name] = true
		if v.Definition == "" {
			continue
		}
		metric, label, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(v.Definition, "label_values("), ")"), ", ")
		if err := checkQuery(fmt.Sprintf("sum by (%s) (%s)", label, metric), existing); err != nil {
			t.Errorf("variable %s: %v", v.Name, err)
		}
	}
	taken, ids := map[[2]int]string{}, map[int]bool{}
	for _, p := range dashboard.Panels {
		if ids[p.ID] || p.Title == "" {
			t.Errorf("panel %d %q: no title, or an id that another one has", p.ID, p.Title)
		}
		ids[p.ID] = true
		if (len(p.Targets) == 0) != (p.Type == "row") {
			t.Errorf("%s, a %s, has %d targets", p.Title, p.Type, len(p.Targets))
		}
		for _, target := range p.Targets {
			if err := checkQuery(target.Expr, existing); err != nil {
				t.Errorf("%s: %v", p.Title, err)
			}
			for _, v := range regexp.MustCompile(`\$\{?([a-z_]+)`).FindAllStringSubmatch(target.Expr, -1) {
				if !variables[v[1]] {
					t.Errorf("%s: there is no variable %s", p.Title, v[1])
				}
			}
		}
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				cell := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if other := taken[cell]; other != "" || cell[0] >= 24 {
					t.Fatalf("%s lies on %q or beyond the edge", p.Title, other)
				}
				taken[cell] = p.Title
			}
		}
	}
	if dashboard.UID == "" || dashboard.SchemaVersion < 30 || len(dashboard.Panels) < 20 {
		t.Errorf("%q, version %d, with %d panels", dashboard.UID, dashboard.SchemaVersion, len(dashboard.Panels))
	}
}

// TestMonitorBeforeOpen tests that while the database is being opened the probes respond, and say so.
func TestMonitorBeforeOpen(t *testing.T) {
	m := newMonitor()
	h := m.handler(new(httpguard.Guard), slog.New(slog.DiscardHandler))
	get := func(url string) (int, string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))
		return w.Code, w.Body.String()
	}
	expect := func(url string, status int, part string) {
		t.Helper()
		if code, body := get(url); code != status || !strings.Contains(body, part) {
			t.Errorf("%s: %d %s", url, code, body)
		}
	}
	expect("http://127.0.0.1/-/healthy", http.StatusOK, "healthy\n")
	expect("http://127.0.0.1/-/ready", http.StatusServiceUnavailable, "not ready: the database is opening")
	expect("http://127.0.0.1/metrics", http.StatusOK, "\nmonotable_recovering 1\n")
	expect("http://rebound.example.com/metrics", http.StatusForbidden, server.HostRefusal("rebound.example.com"))
	db, err := monotable.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	m.opened(db)
	expect("http://127.0.0.1/-/ready", http.StatusOK, "ready\n")
	expect("http://127.0.0.1/metrics", http.StatusOK, "\nmonotable_recovering 0\n")
	m.stopping()
	expect("http://127.0.0.1/-/ready", http.StatusServiceUnavailable, "not ready: the server is stopping\n")
	expect("http://127.0.0.1/-/healthy", http.StatusOK, "healthy\n")
	m.closing()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	expect("http://127.0.0.1/metrics", http.StatusOK, "go_goroutines")
}
