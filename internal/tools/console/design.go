package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/source"
	"github.com/monotable/monotable/internal/tools/designer/view"
)

const (
	// chartPage is the number of items counted per request.
	chartPage = 1000
	// meaningsMax limits the items of a request for meanings; a page shows fewer.
	meaningsMax = 2000
)

// designed adds the handlers of requests about a table's design.
func (c *Console) designed() {
	for path, f := range map[string]func(*designCall) (any, error){"model": showModel, "items": showItems, "chart": showChart, "run": runPattern, "observe": observeRequests} {
		c.mux.Handle("POST "+Path+"design/"+path, c.own(func(w http.ResponseWriter, r *http.Request) { c.callDesign(w, r, f) }))
	}
	for path, f := range map[string]func(*designCall, *progress) (any, error){"conform": checkItems, "races": findRaces} {
		c.mux.Handle("POST "+Path+"design/"+path, c.own(func(w http.ResponseWriter, r *http.Request) {
			c.callDesign(w, r, func(d *designCall) (any, error) { return (&progress{w: w}).follow(d, f) })
		}))
	}
}

// designCall is a request about the design of a table.
type designCall struct {
	console      *Console
	request      *http.Request
	pageLanguage pageLanguage
	credentials  aws.Credentials
	design       *described
	in           struct {
		Table string
		// for items
		Index string
		Items []json.RawMessage
		// for chart
		Start json.RawMessage
		// for conform
		Limit int64
		// for observe
		After string
		// for run
		Pattern   string
		Arguments argumentText
		Preview   bool
	}
}

// argumentText is a JSON object, or a string that contains one: the page sends strings, because JavaScript numbers hold only
// about 15 digits.
type argumentText []byte

// UnmarshalJSON accepts both forms.
func (a *argumentText) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		data = []byte(text)
	}
	*a = slices.Clone(data)
	return nil
}

func (c *Console) callDesign(w http.ResponseWriter, r *http.Request, f func(*designCall) (any, error)) {
	call := &designCall{console: c, request: r, pageLanguage: languageOf(r)}
	var err error
	if call.credentials, err = c.credentials(r); err != nil {
		refuse(w, r, http.StatusUnauthorized, codeOf(err, "CredentialsError"), err.Error())
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&call.in); err != nil || call.in.Table == "" {
		refuse(w, r, http.StatusBadRequest, "ValidationException", "Name the table, as JSON.")
		return
	}
	call.design, err = c.options.Designs.of(r.Context(), call.client(&recorder{}), call.in.Table)
	var out any
	if err == nil {
		out, err = f(call)
	}
	if err != nil {
		if r.Context().Err() == nil {
			refuse(w, r, http.StatusBadRequest, codeOf(err, "DesignError"), strings.TrimSpace(err.Error()))
		}
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_ = json.NewEncoder(w).Encode(out)
}

// client returns a client that calls the endpoint with the credentials of the request.
func (d *designCall) client(r *recorder) *dynamodb.Client {
	return d.console.sdk(d.request, d.credentials, r)
}

// errNoDesign is the error of requests that need a design.
var errNoDesign = &refusal{"NoDesign", "The table has no design."}

// shownModel is a design as sent to the page.
type shownModel struct {
	*view.Model

	Source Source `json:"source"`
	// Own maps the design's table names to the actual ones; Of is the table's name in the design.
	Own map[string]string `json:"own"`
	Of  string            `json:"of"`
}

func showModel(d *designCall) (any, error) {
	if d.design == nil {
		return map[string]any{"design": nil}, nil
	}
	return map[string]any{"design": shownModel{d.pageLanguage.model(d.design.Model), d.design.source, d.design.tables, d.design.table.Name}}, nil
}

func showItems(d *designCall) (any, error) {
	if d.design == nil {
		return nil, errNoDesign
	}
	if len(d.in.Items) > meaningsMax {
		return nil, fmt.Errorf("ask for the meaning of %d items at most", meaningsMax)
	}
	out := []view.Meaning{}
	for _, raw := range d.in.Items {
		it, err := source.ParseItem(raw)
		if err != nil {
			return nil, err
		}
		out = append(out, d.design.Meaning(d.design.table, d.in.Index, it))
	}
	return map[string]any{"items": out}, nil
}

// showChart counts one page of a table. The page adds up the results, so it can show progress and stop at any time.
func showChart(d *designCall) (any, error) {
	if d.design == nil {
		return nil, errNoDesign
	}
	in := &dynamodb.ScanInput{TableName: &d.in.Table, Limit: aws.Int32(chartPage), ReturnConsumedCapacity: "TOTAL"}
	if len(d.in.Start) > 0 && string(d.in.Start) != "null" {
		start, err := source.ParseItem(d.in.Start)
		if err != nil {
			return nil, err
		}
		in.ExclusiveStartKey = start
	}
	r := &recorder{keep: true}
	page, err := d.client(r).Scan(d.request.Context(), in)
	if err != nil {
		return nil, endpointFault(err)
	}
	var said struct{ LastEvaluatedKey json.RawMessage }
	if err := json.Unmarshal([]byte(r.exchanges[0].Output), &said); err != nil {
		return nil, err
	}
	units := 0.0
	if page.ConsumedCapacity != nil {
		units = aws.ToFloat64(page.ConsumedCapacity.CapacityUnits)
	}
	return map[string]any{"chart": d.design.Chart(d.design.table, page.Items), "next": said.LastEvaluatedKey, "units": units}, nil
}

// runPattern runs a pattern, or shows the first request it would send.
func runPattern(d *designCall) (any, error) {
	if d.design == nil {
		return nil, errNoDesign
	}
	p := d.design.Patterns.Named(d.in.Pattern)
	if p == nil {
		return nil, fmt.Errorf("the design has no pattern %q that can be run", d.in.Pattern)
	}
	if p.Writes && d.console.options.ReadOnly && !d.in.Preview {
		return nil, &refusal{"ReadOnly", fmt.Sprintf("The console is read-only: it does not run %s, which writes.", d.in.Pattern)}
	}
	r := &recorder{keep: true, preview: d.in.Preview, previewWrites: p.Writes}
	call := table.Call{}
	db, err := d.design.Patterns.Open(d.client(r), table.Config{
		Tables: d.design.tables, CursorKey: d.console.cursorKey, Observe: r.observe(&call),
	})
	if err != nil {
		return nil, err
	}
	result, err := p.Call(d.request.Context(), db, d.in.Arguments)
	out := ran{Exchanges: r.exchanges, Preview: d.in.Preview, ReadUnits: call.ReadUnits, WriteUnits: call.WriteUnits, Attempts: call.Attempts, Milliseconds: float64(call.Duration.Microseconds()) / 1000} //nolint:mnd // of a millisecond
	switch {
	case errors.Is(err, errPreview):
	case err != nil:
		out.Error = d.pageLanguage.say(strings.TrimSpace(err.Error()))
	default:
		text, err := json.MarshalIndent(result, "", "  ")
		if err != nil {
			return nil, err
		}
		out.Result = string(text)
	}
	return out, nil
}

// ran is the result of running a pattern.
type ran struct {
	Exchanges []*exchange `json:"exchanges"`
	// Preview reports that the last exchange was not sent.
	Preview bool `json:"preview,omitempty"`
	// Result is JSON as a string, because its numbers may have more digits than the page can hold.
	Result       string  `json:"result,omitempty"`
	Error        string  `json:"error,omitempty"`
	ReadUnits    float64 `json:"readUnits"`
	WriteUnits   float64 `json:"writeUnits"`
	Attempts     int     `json:"attempts"`
	Milliseconds float64 `json:"milliseconds"`
}
