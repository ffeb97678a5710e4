// Package personal lets users export and erase their data: GET /me/data and DELETE /me, for every system whose design declares
// which items belong to whom (Articles 15, 17 and 20 of the GDPR, Article 18 of the LGPD).
//
// # Model
//
//	GET /me/data ─▶ ExportPerson, page by page ─▶ {"person", "items": [{"entity", "item"}, …], "complete": true}
//
//	DELETE /me   ─▶ Refuse ─▶ ErasePerson, until nothing is left ─▶ what was deleted and changed, what is kept and why
//
// # Invariants
//
//	P1  Both operations only concern the caller.
//	P2  A document that ends in "complete": true is complete; an interrupted one is not valid JSON.
//	P3  DELETE may be repeated, and then completes an interrupted erasure. Nothing is erased without the confirming header.
//
// A Data is safe for concurrent use.
package personal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

// DB is the part of the generated data access that the package uses.
type DB interface {
	ExportPerson(ctx context.Context, id string, after table.Cursor) iter.Seq2[table.PersonItem, error]
	ErasePerson(ctx context.Context, id string) (table.Erased, error)
}

// Data describes a system's personal data.
type Data struct {
	DB DB
	// Kept lists the items that an erasure keeps, according to the design.
	Kept []table.Kept
	// Allow is checked before export and erasure. The zero value lets everyone export and erase their own data.
	Allow Check
	// Refuse is checked before erasure. The zero value rejects no user.
	Refuse Check
	// Before is called before erasure, also when it is repeated; nil does nothing. It ends what would still write data about the
	// user.
	Before func(ctx context.Context, id string) error
}

// confirmation is the required value of the header Confirm.
const confirmation = "erase"

// eraseTimeout limits the work of one request; the next request continues.
const eraseTimeout = 25 * time.Second

// errNotErased is the error for an erasure that must be continued.
var errNotErased = &problem.Error{
	Status: http.StatusConflict, Code: "erasure_unfinished", Detail: "the erasure is not complete yet; repeat the request to continue", RetryAfter: time.Second,
}

// Register adds the operations, unless the system has no personal data.
func (d *Data) Register(a huma.API) {
	if d == nil {
		return
	}
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "exportOwnData", Method: http.MethodGet, Path: "/me/data", Tags: []string{"Your data"},
		Summary: "Export your data",
		Description: "Everything stored about you, as one streamed JSON document. It ends with `\"complete\": true`; without that " +
			"the response was interrupted and is not valid JSON.",
		Responses: map[string]*huma.Response{"200": {
			Description: "OK", Content: map[string]*huma.MediaType{"application/json": {Schema: document()}},
		}},
	}, api.Refuses(d.Allow.Errors...), api.Stream), d.export)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "eraseOwnData", Method: http.MethodDelete, Path: "/me", Tags: []string{"Your data"},
		Summary: "Erase your data",
		Description: "Permanently deletes the data stored about you. The response lists what has to be kept, with the reasons. A repeated request " +
			"continues where the previous one stopped.",
		DefaultStatus: http.StatusOK,
	}, api.Refuses(d.Allow.Errors...), api.Refuses(d.Refuse.Errors...), api.Refuses(errNotErased), api.Timeout(eraseTimeout)), d.erase)
}

// Check decides about a user, whose id is the sub of a token. The zero Check rejects no user.
type Check struct {
	// Of returns the error that is the response to a rejected user. If it is nil, no user is rejected.
	Of func(ctx context.Context, id string) error
	// Errors are the errors that Of can return, for the document.
	Errors []error
}

func (c Check) ask(ctx context.Context, id string) error {
	if c.Of == nil {
		return nil
	}
	return c.Of(ctx, id)
}

// document returns the schema of an export.
func document() *huma.Schema {
	item := &huma.Schema{Type: huma.TypeObject, Required: []string{"entity", "item"}, Properties: map[string]*huma.Schema{
		"entity": {Type: huma.TypeString, Description: "What the item is"}, "item": {Type: huma.TypeObject, AdditionalProperties: true, Description: "Its fields"},
	}}
	return &huma.Schema{Type: huma.TypeObject, Required: []string{"person", "items", "complete"}, Properties: map[string]*huma.Schema{
		"person": {Type: huma.TypeString, Description: "You"},
		"items":  {Type: huma.TypeArray, Items: item}, "complete": {Type: huma.TypeBoolean, Description: "Shows that nothing is missing"},
	}}
}

func (d *Data) export(ctx context.Context, _ *struct{}) (*huma.StreamResponse, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.Allow.ask(ctx, who.Sub); err != nil {
		return nil, err
	}
	next, stop := iter.Pull2(d.DB.ExportPerson(ctx, who.Sub, ""))
	first, err, some := next() // an immediate failure becomes a problem
	if err != nil {
		stop()
		return nil, err
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		defer stop()
		c.SetHeader("Content-Type", "application/json")
		c.SetHeader("Content-Disposition", `attachment; filename="my-data.json"`)
		c.SetHeader("Cache-Control", "no-store")
		w := c.BodyWriter()
		head, _ := json.Marshal(who.Sub) // a string
		_, _ = fmt.Fprintf(w, `{"person":%s,"items":[`, head)
		for n := 0; some; n++ {
			line, fault := json.Marshal(first)
			if fault != nil {
				panic(http.ErrAbortHandler)
			}
			if n > 0 {
				line = append([]byte(","), line...)
			}
			if _, fault := w.Write(append(line, '\n')); fault != nil {
				return // the client has disconnected
			}
			if first, err, some = next(); err != nil {
				return // without the end, so that the interruption is noticed
			}
		}
		_, _ = fmt.Fprint(w, `],"complete":true}`+"\n")
	}}, nil
}

type eraseInput struct {
	Confirm string `header:"Confirm" required:"true" enum:"erase" doc:"Must be erase: erased data cannot be recovered"`
}

// erased is the result of an erasure.
type erased struct {
	Deleted map[string]int `json:"deleted" doc:"The number of items that this request deleted, by kind"`
	Changed map[string]int `json:"changed" doc:"The number of items that no longer name you"`
	Kept    []kept         `json:"kept" nullable:"false" doc:"What is kept, and why"`
}

type kept struct {
	Entity string `json:"entity" doc:"What is kept"`
	Reason string `json:"reason" doc:"Why"`
	// Anonymous means that the items no longer name the user but still exist.
	Anonymous bool `json:"anonymous" doc:"Whether it no longer names you"`
}

type eraseOutput struct{ Body erased }

func (d *Data) erase(ctx context.Context, in *eraseInput) (*eraseOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	if in.Confirm != confirmation {
		return nil, problem.BadRequest(problem.CodeInvalidParameter, "send the header Confirm: "+confirmation)
	}
	if err := d.Allow.ask(ctx, who.Sub); err != nil {
		return nil, err
	}
	if err := d.Refuse.ask(ctx, who.Sub); err != nil {
		return nil, err
	}
	if d.Before != nil {
		err = d.Before(ctx, who.Sub)
	}
	var done table.Erased
	if err == nil {
		done, err = d.DB.ErasePerson(ctx, who.Sub)
	}
	if errors.Is(err, table.ErrStillWritten) || errors.Is(err, context.DeadlineExceeded) {
		return nil, errors.Join(errNotErased, err)
	}
	if err != nil {
		return nil, err
	}
	out := &eraseOutput{Body: erased{Deleted: done.Deleted, Changed: done.Changed, Kept: []kept{}}}
	for _, k := range d.Kept {
		reason := k.Reason
		if k.Expires {
			reason = "It expires within days."
		}
		out.Body.Kept = append(out.Body.Kept, kept{Entity: k.Entity, Reason: reason, Anonymous: k.Changed})
	}
	return out, nil
}
