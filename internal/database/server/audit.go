package server

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/identity/policy"
	"github.com/monotable/monotable/internal/database/observe"
)

// Auditor records requests. It is called for each call of an operation, including rejected ones, before the response is sent.
type Auditor interface {
	// Parameters returns what to record of an operation's valid input, or nil.
	Parameters(op api.Operation, in any) json.RawMessage
	// Admit returns why an operation that changes something must not start, or nil.
	Admit(op api.Operation) error
	// Record records a call. After an error the response is an internal error, unless the call has changed nothing.
	Record(a *Audited) error
	// RecordForm records a request of a companion: see Companion.Recorded.
	RecordForm(a *Audited, form url.Values, response []byte) error
}

// Audited is a request as an Auditor sees it.
type Audited struct {
	Request    *http.Request
	ID, Region string
	Operation  api.Operation
	Owner      bool              // see Server.Owner
	Who        *policy.Principal // nil if unknown
	ReadOnly   bool
	Parameters json.RawMessage
	Tables     []string // by their names in metrics
	Err        *apierr.Error
}

// note remembers what to record of the operation's input.
func (x *exchange) note(region string, in any) {
	if a := x.server.options.Auditor; a != nil {
		x.region, x.parameters = region, a.Parameters(x.called.Operation, in)
	}
}

// admitAudit rejects an operation that changes something if it cannot be recorded.
func (x *exchange) admitAudit(op *operation) error {
	if a := x.server.options.Auditor; a != nil && !op.reads && op.Name != "" {
		return a.Admit(op.Operation)
	}
	return nil
}

// audit records a call that ended with err, and returns the error for the client.
func (x *exchange) audit(op *operation, out any, err error) error {
	auditor := x.server.options.Auditor
	if auditor == nil || op.Name == "" {
		return err
	}
	x.recorded = true
	a := x.audited()
	a.Operation, a.Parameters, a.ReadOnly, a.Err = op.Operation, x.parameters, op.reads || err == nil && hasOnlyRead(out), clientError(err)
	for _, t := range append(slices.Clip(x.ctx.Request.More), x.ctx.Request.Table) {
		if t != nil && t.Name != observe.Other {
			a.Tables = append(a.Tables, t.Name)
		}
	}
	a.Tables = append(a.Tables, x.ctx.Request.Beyond...)
	if auditor.Record(a) == nil || err != nil || a.ReadOnly {
		return err
	}
	if lender, ok := out.(api.Memory); ok {
		lender.Release()
	}
	return apierr.InternalFault.With()
}

func (x *exchange) audited() *Audited {
	region := x.region
	if region == "" {
		region = x.server.options.Region
	}
	return &Audited{Request: x.r, ID: x.id, Region: region, Owner: x.owner, Who: x.who}
}

// clientError returns the error as the client gets it.
func clientError(err error) *apierr.Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*apierr.Error](err); ok {
		return e
	}
	return apierr.InternalFault.With()
}

// auditForm records a request of a companion, and returns an error if the response must not be sent.
func (x *exchange) auditForm(c Companion, body, response []byte) error {
	auditor := x.server.options.Auditor
	if auditor == nil {
		return nil
	}
	form := c.Recorded(x.r, body)
	if form == nil {
		return nil
	}
	return auditor.RecordForm(x.audited(), form, response)
}
