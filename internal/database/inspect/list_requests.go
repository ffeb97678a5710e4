package inspect

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/monotable/monotable/internal/database/observe"
)

// requestsInput requests the requests on a table from where an earlier response ended.
type requestsInput struct{ TableName, After string }

// requestsOutput has the requests that were kept, the oldest first. After is where to continue.
type requestsOutput struct {
	Requests []sampledRequest
	After    string
	// Total is the number of requests since the earlier response, including those that were not kept. The first call, which has no
	// After, starts to watch the table and returns no requests. The server stops after For seconds without a call.
	Total uint64
	Now   float64
	For   float64
	// Others is the number of other servers that serve the same store. Requests to them are not in the response.
	Others int
}

// sampledRequest is a request that reads or writes items. Its input is absent if it is too large; long texts in it are cut.
type sampledRequest struct {
	ID, Operation         string
	Time, Took            float64
	ReadUnits, WriteUnits float64
	Error                 string          `json:",omitempty"`
	Input                 json.RawMessage `json:",omitempty"`
}

// listRequests returns the latest requests on a table. They contain keys and items, so the action is on the table.
func (h *Handler) listRequests(ctx context.Context, by caller, body []byte) (any, error) {
	var input requestsInput
	if err := decode(body, &input); err != nil {
		return nil, err
	}
	var after uint64
	if input.After != "" {
		var err error
		if after, err = strconv.ParseUint(input.After, 10, 64); err != nil {
			return nil, invalid("After %q is not from an earlier response.", input.After)
		}
	}
	in, name, err := h.table(by, "ListRequests", input.TableName)
	if err != nil {
		return nil, err
	}
	counts, err := in.Counts(name)
	if err != nil {
		return nil, err
	}
	if counts.Name == observe.Other {
		return nil, invalid("Requests on %s cannot be distinguished from those on others: the server distinguishes %d tables.", input.TableName, observe.TablesMax)
	}
	now := time.Now() // as the server measures requests
	found, next, watched := h.options.Observe.Sample.Watch(counts.Name, after, now)
	if !watched {
		return nil, invalid("The requests on %d other tables are being watched, which is the maximum. Try again in %s.", observe.SampleTables, observe.SampleFor)
	}
	if input.After == "" {
		found, after = nil, next
	}
	out := requestsOutput{
		Requests: make([]sampledRequest, len(found)), After: strconv.FormatUint(next, 10), Now: seconds(now), For: observe.SampleFor.Seconds(),
	}
	servers, self, at, err := h.options.Engine.Servers(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range servers {
		if s.ID != self && s.Serves && s.Until.After(at) {
			out.Others++
		}
	}
	if next > after {
		out.Total = next - after
	}
	for i := range found {
		r := &found[i]
		out.Requests[i] = sampledRequest{
			ID: r.ID, Operation: r.Operation, Time: seconds(r.At), Took: milliseconds(r.Took), ReadUnits: r.ReadUnits, WriteUnits: r.WriteUnits,
			Error: r.Failure.Code, Input: r.Input,
		}
	}
	return out, nil
}
