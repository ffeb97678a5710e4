package console

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/monotable/monotable/internal/tools/designer/traffic"
)

// observedMax limits the response of ListRequests, in bytes: a server returns a few MB at most.
const observedMax = 16 << 20

// listed is the response of ListRequests.
type listed struct {
	Requests []struct {
		Operation             string
		Took                  float64
		ReadUnits, WriteUnits float64
		Error                 string
		Input                 json.RawMessage
	}
	After    string
	Total    int
	Now, For float64
	Others   int
}

// observed is the requests on a table since the previous call, grouped by the patterns they match.
type observed struct {
	// After is the position from which to continue. Total is the number of requests, Kept the number recorded by the server; the
	// groups cover these.
	After string `json:"after"`
	Total int    `json:"total"`
	Kept  int    `json:"kept"`
	// Now is the server's time in seconds. The server stops recording requests when it has not been called for For seconds.
	Now     float64          `json:"now"`
	For     float64          `json:"for"`
	Groups  []*observedGroup `json:"groups"`
	Foreign []*observedGroup `json:"foreign"`
	// UnknownItems is the number of written items that match no entity. Cut is the number of requests too large to compare.
	UnknownItems int `json:"unknownItems"`
	Cut          int `json:"cut"`
	// Others is the number of other servers of the same store; their requests are not included.
	Others int `json:"others,omitempty"`
}

// observedGroup is a group of requests that match the same patterns, or that have the same shape and match none.
type observedGroup struct {
	Patterns   []string       `json:"patterns,omitempty"`
	Shape      *traffic.Shape `json:"shape,omitempty"` // the shape of the latest request
	Count      int            `json:"count"`
	ReadUnits  float64        `json:"readUnits"`
	WriteUnits float64        `json:"writeUnits"`
	// Took lists the latencies of successful requests, in milliseconds.
	Took   []float64      `json:"took"`
	Errors map[string]int `json:"errors,omitempty"` // by code
}

// observeRequests returns the latest requests on a table. The first call starts recording.
func observeRequests(d *designCall) (any, error) {
	if d.design == nil {
		return nil, errNoDesign
	}
	found, err := d.list()
	if err != nil {
		return nil, err
	}
	out := &observed{After: found.After, Total: found.Total, Kept: len(found.Requests), Now: found.Now, For: found.For, Others: found.Others, Groups: []*observedGroup{}, Foreign: []*observedGroup{}}
	groups := map[string]*observedGroup{}
	group := func(list *[]*observedGroup, key string) *observedGroup {
		g := groups[key]
		if g == nil {
			g = &observedGroup{Took: []float64{}, Errors: map[string]int{}}
			groups[key] = g
			*list = append(*list, g)
		}
		return g
	}
	matcher := d.design.Traffic()
	for i := range found.Requests {
		r := &found.Requests[i]
		if len(r.Input) == 0 {
			out.Cut++
			continue
		}
		m := matcher.Match(d.design.tables, r.Operation, r.Input)
		out.UnknownItems += m.UnknownItems
		var g *observedGroup
		if len(m.Patterns) > 0 {
			g = group(&out.Groups, strings.Join(m.Patterns, " "))
			g.Patterns = m.Patterns
		} else {
			g = group(&out.Foreign, "\x00"+m.Shape.Form)
			g.Shape = m.Shape
		}
		g.Count++
		g.ReadUnits += r.ReadUnits
		g.WriteUnits += r.WriteUnits
		if r.Error != "" {
			g.Errors[r.Error]++
		} else {
			g.Took = append(g.Took, r.Took)
		}
	}
	return out, nil
}

// list calls ListRequests with the credentials of the request.
func (d *designCall) list() (*listed, error) {
	body, err := json.Marshal(map[string]string{"TableName": d.in.Table, "After": d.in.After})
	if err != nil {
		return nil, err
	}
	response, err := d.console.send(d.request, "ListRequests", body, d.credentials)
	if err != nil {
		return nil, &refusal{"EndpointUnreachable", d.console.options.Endpoint + " cannot be reached: " + err.Error()}
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, observedMax))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		var failure struct {
			Type    string `json:"__type"`
			Message string `json:"message"`
		}
		if json.Unmarshal(text, &failure) != nil || failure.Type == "" {
			return nil, fmt.Errorf("%s responds to ListRequests with status %d", d.console.options.Endpoint, response.StatusCode)
		}
		_, code, found := strings.Cut(failure.Type, "#")
		if !found {
			code = failure.Type
		}
		return nil, &refusal{code, failure.Message}
	}
	found := new(listed)
	return found, json.Unmarshal(text, found)
}
