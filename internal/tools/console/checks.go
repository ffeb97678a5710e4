package console

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/conform"
	"github.com/monotable/monotable/internal/tools/designer/races"
)

const (
	// checkedDefault and checkedMax are the default and maximum number of items compared with the design.
	checkedDefault = 10_000
	checkedMax     = 1_000_000
	// checkedExamples is the number of items shown per finding.
	checkedExamples = 25
	// raceStates limits the states of each race.
	raceStates = 100_000
	// lineTime limits how long a line of progress may take to be sent, and the time between lines.
	lineTime = 2 * time.Minute
)

// progress is the response to a long request: lines of JSON, any number of {"progress": …}, then {"done": …} or {"error":
// {"code": …, "message": …}}. The work ends with the connection.
type progress struct {
	w     http.ResponseWriter
	begun bool
}

// follow runs the work. Its result is the last line; an error before the first line is the response to the request.
func (p *progress) follow(d *designCall, f func(*designCall, *progress) (any, error)) (any, error) {
	_ = http.NewResponseController(p.w).SetReadDeadline(time.Time{}) // the body has been read
	if d.design == nil {
		return nil, errNoDesign
	}
	out, err := f(d, p)
	switch {
	case err == nil:
		return map[string]any{"done": out}, nil
	case !p.begun:
		return nil, err
	default:
		return map[string]any{"error": map[string]string{"code": codeOf(err, "DesignError"), "message": d.pageLanguage.say(strings.TrimSpace(err.Error()))}}, nil
	}
}

// send sends a line of progress.
func (p *progress) send(what any) {
	control := http.NewResponseController(p.w)
	_ = control.SetWriteDeadline(time.Now().Add(lineTime))
	if !p.begun {
		p.begun = true
		p.w.Header().Set("Content-Type", "application/x-ndjson")
		p.w.Header().Set("X-Content-Type-Options", "nosniff")
	}
	_ = json.NewEncoder(p.w).Encode(map[string]any{"progress": what}) // if it fails, the context ends
	_ = control.Flush()
}

// checked is the progress of a comparison.
type checked struct {
	Pass  int     `json:"pass"`
	Items int     `json:"items"` // in this pass
	Units float64 `json:"units"` // read in all passes
}

// nonconforming groups items with the same fault.
type nonconforming struct {
	Kind     conform.Kind   `json:"kind"`
	Subject  string         `json:"subject"`
	Items    int64          `json:"items"`
	Examples []shownExample `json:"examples"`
}

// shownExample is an item with its key as DynamoDB JSON.
type shownExample struct {
	Key     map[string]map[string]string `json:"key"`
	Message string                       `json:"message"`
}

// checkItems compares a table's items with its design.
func checkItems(d *designCall, p *progress) (any, error) {
	state := checked{}
	client := d.client(&recorder{})
	scan := func() iter.Seq2[table.Item, error] {
		state.Pass, state.Items = state.Pass+1, 0
		return func(yield func(table.Item, error) bool) {
			pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &d.in.Table, Limit: aws.Int32(chartPage), ReturnConsumedCapacity: "TOTAL"})
			for pages.HasMorePages() {
				page, err := pages.NextPage(d.request.Context())
				if err != nil {
					yield(nil, endpointFault(err))
					return
				}
				if page.ConsumedCapacity != nil {
					state.Units += aws.ToFloat64(page.ConsumedCapacity.CapacityUnits)
				}
				for _, it := range page.Items {
					state.Items++
					if !yield(it, nil) {
						return
					}
				}
				p.send(state)
			}
		}
	}
	of := d.design.table.Name
	report, err := conform.Check(d.design.Design, map[string]conform.Pass{of: scan}, conform.Options{
		Examples: checkedExamples, Now: d.console.options.Now(), Limit: min(cmp.Or(max(d.in.Limit, 0), checkedDefault), checkedMax),
	})
	if err != nil {
		return nil, err
	}
	findings := []nonconforming{}
	for _, f := range report.Findings {
		shown := nonconforming{f.Kind, f.Subject, f.Items, []shownExample{}}
		for _, e := range f.Examples {
			shown.Examples = append(shown.Examples, shownExample{keyJSON(e.PrimaryKey), d.pageLanguage.say(e.Message)})
		}
		findings = append(findings, shown)
	}
	return struct {
		conform.TableReport

		Findings []nonconforming `json:"findings"`
		Cut      bool            `json:"cut"`
		Units    float64         `json:"units"`
	}{report.Tables[0], findings, report.Cut, state.Units}, nil
}

// keyJSON encodes a key as DynamoDB JSON.
func keyJSON(key table.Item) map[string]map[string]string {
	out := map[string]map[string]string{}
	for name, v := range key {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			out[name] = map[string]string{"S": v.Value}
		case *types.AttributeValueMemberN:
			out[name] = map[string]string{"N": v.Value}
		case *types.AttributeValueMemberB:
			out[name] = map[string]string{"B": base64.StdEncoding.EncodeToString(v.Value)}
		default: // keys have no other types
		}
	}
	return out
}

// racing limits the process to one exploration at a time, because each uses a whole core.
var racing = make(chan struct{}, 1)

// findRaces runs the design's writes in every interleaving, each time in a separate in-memory database.
func findRaces(d *designCall, p *progress) (any, error) {
	select {
	case racing <- struct{}{}:
		defer func() { <-racing }()
	default:
		return nil, &refusal{"RacesUnderWay", "Races are already being explored. Try again when that has finished."}
	}
	type explored struct {
		Race   string `json:"race"`
		States int    `json:"states"`
		Bound  int    `json:"bound"`
	}
	report, err := races.Run(d.request.Context(), d.design.Design, races.Options{
		States: raceStates, Progress: func(race string, states, bound int) { p.send(explored{d.pageLanguage.phrase(race), states, bound}) },
	})
	if err != nil {
		return nil, err
	}
	return d.pageLanguage.races(report), nil
}
