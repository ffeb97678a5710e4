//go:build unix

package main

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// model is the arithmetic of docs/scale.md, with the assumptions listed on the page.
type model map[string]float64

// keys is the number of keys that a request reads and writes on TiKV, according to the page's table.
type keys struct{ read, written float64 }

// tikv is the row for a number of nodes.
func (m model) tikv(nodes float64, requests map[string]keys) []float64 {
	micros := nodes * m["cores"] * m["use"] * 1e6
	rate := func(name string) float64 {
		k := requests[name]
		return micros / (k.read*m["read"] + k.written*m["write"])
	}
	return []float64{
		rate("get"), rate("put, no index"), rate("put, two indexes"), rate("transaction of five, two indexes"),
		nodes * m["disk"] * m["fill"] / m["replicas"], rate("get") * m["server_get"] / 1e6 / m["use"],
	}
}

// postgres is the row for a number of cores.
func (m model) postgres(cores float64) []float64 {
	micros := cores * m["use"] * 1e6
	puts := micros / m["pg_put"]
	return []float64{micros / m["pg_get"], puts, micros / m["pg_transact"], puts * m["pg_put_log"] / 1e6, puts * m["server_put"] / 1e6 / m["use"]}
}

// limits are the limits that do not grow with nodes.
func (m model) limits() map[string]float64 {
	second := 1000.0
	return map[string]float64{
		"writes of one item, PostgreSQL, by one server":                        second / (2*m["rtt"] + m["fsync"]),
		"writes of one item, PostgreSQL, by several servers":                   second / (m["rtt"] + m["fsync"]),
		"writes of one item, TiKV":                                             second / (7*m["rtt"] + 2*m["fsync"]),
		"writes by one server, PostgreSQL":                                     m["connections"] * second / (2*m["rtt"] + m["fsync"]),
		"reads of items by one server, PostgreSQL":                             m["connections"] * second / m["rtt"],
		"writes of a table with a stream, TiKV":                                m["region_keys"],
		"new items of a table with two indexes, TiKV, its counters one Region": m["region_keys"] / 3,
		"reads of one item, TiKV":                                              m["cores"] * m["use"] * 1e6 / m["read"],
		"writes of all tables, TiKV, by timestamps":                            m["timestamps"] / 2,
	}
}

// TestScalePage tests that each number in the tables of docs/scale.md follows from the assumptions on the page, rounded to
// two digits.
func TestScalePage(t *testing.T) {
	text, err := os.ReadFile("../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	page, m := rows(string(text)), model{}
	assumption := regexp.MustCompile("^`([a-z_]+)`$")
	for _, row := range page {
		if name := assumption.FindStringSubmatch(row[0]); name != nil {
			m[name[1]] = number(t, row[1])
		}
	}
	requests := map[string]keys{}
	for _, row := range after(t, page, "request, on TiKV") {
		requests[row[0]] = keys{number(t, row[1]), number(t, row[2])}
	}
	for _, row := range after(t, page, "TiKV nodes") {
		compare(t, row, m.tikv(number(t, row[0]), requests))
	}
	for _, row := range after(t, page, "cores of PostgreSQL") {
		compare(t, row, m.postgres(number(t, row[0])))
	}
	found := after(t, page, "a second, at most")
	for _, row := range found {
		want, known := m.limits()[row[0]]
		if !known {
			t.Errorf("the model has no limit %q", row[0])
		}
		compare(t, []string{row[0], row[2]}, []float64{want})
	}
	if len(found) != len(m.limits()) {
		t.Errorf("the page has %d limits, the model %d", len(found), len(m.limits()))
	}
}

// rows returns the rows of all tables of a page, without the lines below their headers.
func rows(page string) (list [][]string) {
	for line := range strings.Lines(page) {
		line, is := strings.CutPrefix(strings.TrimSpace(line), "| ")
		if !is {
			list = append(list, nil)
			continue
		}
		list = append(list, strings.Split(strings.TrimSuffix(line, " |"), " | "))
	}
	for i, row := range list {
		if row == nil {
			list[i] = []string{""}
		}
	}
	return list
}

// after returns the rows of the table whose header begins with a text.
func after(t *testing.T, page [][]string, head string) (list [][]string) {
	t.Helper()
	for i, row := range page {
		if row[0] != head {
			continue
		}
		for _, row := range page[i+2:] { // below the line
			if row[0] == "" {
				break
			}
			list = append(list, row)
		}
	}
	if len(list) == 0 {
		t.Fatalf("no table begins with %q", head)
	}
	return list
}

// compare compares the cells of a row after the first with numbers.
func compare(t *testing.T, row []string, want []float64) {
	t.Helper()
	var cells []string
	for _, f := range want {
		cells = append(cells, rounded(f))
	}
	if got := strings.Join(row[1:], " | "); got != strings.Join(cells, " | ") {
		t.Errorf("%s: the page has %s, and the assumptions make %s", row[0], got, strings.Join(cells, " | "))
	}
}

// rounded rounds to two digits: 137,143 is 140,000, and 3.21 is 3.2.
func rounded(f float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(f))-1)
	f = math.Round(f/unit) * unit
	if f < 10 {
		return fmt.Sprintf("%.1f", f)
	}
	return figure(f)
}

func number(t *testing.T, cell string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(strings.ReplaceAll(cell, ",", ""), 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
