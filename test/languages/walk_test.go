package languages

import (
	"encoding/base64"
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/provision"
	"github.com/monotable/monotable/monotabletest"
)

// TestWalksContinue tests that a walk without bounds finds nothing before its floor, and continues unchanged two days later,
// as in Go.
func TestWalksContinue(t *testing.T) {
	inEach(t, "../../internal/tools/designer/trial/testdata/buckets.design.yaml", walksResume)
}

func walksResume(t *testing.T, l language, d *design.Design, dir string) {
	t.Helper()
	p, err := lower.Lower(d)
	if err != nil {
		t.Fatal(err)
	}
	memory := monotabletest.New(t)
	if err := provision.Apply(t.Context(), memory.Client(), provision.Specs(d, nil), t.Logf); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(memory.Handler())
	t.Cleanup(server.Close)
	key := make([]byte, 32)
	n := start(t, l, dir)
	began := time.UnixMilli(1736942400000) // 2025-01-15T12:00:00Z
	var worlds []*table.DB
	for i, now := range []time.Time{began, began.AddDate(0, 0, 2)} {
		db, err := table.Open(memory.Client(), table.Config{CursorKey: key, Clock: func() time.Time { return now }}, p.Tables...)
		if err != nil {
			t.Fatal(err)
		}
		worlds = append(worlds, db)
		failed, err := n.call("open", map[string]any{
			"world": i, "endpoint": server.URL, "tables": map[string]string{}, "now": now.UnixMilli(), "cursorKey": base64.StdEncoding.EncodeToString(key),
		}, nil)
		if failed != nil || err != nil {
			t.Fatal(failed, err)
		}
	}
	at := func(days float64) string { // 24 of them are before the floor of Latest, and 3 that of SinceThen
		return began.Add(time.Duration(days * 24 * float64(time.Hour))).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	s := script{program: p}
	measure := p.Writes[slices.IndexFunc(p.Writes, func(w *lower.Write) bool { return w.Design.Name == "Measure" })].Run
	for i, days := range []float64{-40, -27, -25, -14, -12.5, -3.2, -2.9, -1, -0.5, 0, 0.5, 1.5, 3} {
		if _, err := worlds[0].Write(t.Context(), measure, given("sensorId", "s", "at", at(days), "kind", "k", "level", i, "note", "n")); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"Latest", "SinceThen"} {
		for _, bounds := range [][2]string{{}, {at(-60), ""}, {at(-13), ""}, {"", at(1)}, {at(-60), at(1)}, {at(1), at(-1)}} {
			in := given("sensorId", "s")
			if bounds[0] != "" {
				in.From = textValue(bounds[0])
			}
			if bounds[1] != "" {
				in.To = textValue(bounds[1])
			}
			r := s.read(name)
			var after, own table.Cursor
			for page := range 20 {
				world := min(page, 1) // the second page is requested two days later
				want, err := worlds[world].Page(t.Context(), r, in, table.PageOptions{Limit: 2, After: after})
				if err != nil {
					t.Fatal(err)
				}
				call := describe(fmt.Sprintf("page %d of", page+1), name, in)
				var got struct {
					Items []map[string]value
					Next  table.Cursor
				}
				failed, err := n.call("page", map[string]any{
					"world": world, "pattern": name, "input": jsonInput(in), "limit": r.Limit, "size": 2, "after": own,
				}, &got)
				if failed != nil || err != nil {
					t.Fatal(call, failed, err)
				}
				if err := sameLists(call, got.Items, want.Items); err != nil {
					t.Error(err)
				}
				if (got.Next == "") != (want.Next == "") {
					t.Error(differs(call+", the cursor", got.Next, want.Next))
				}
				if after, own = want.Next, got.Next; after == "" || own == "" {
					break
				}
			}
		}
	}
}
