// Package audit writes the audit log: a line of JSON for each request, in the shape of AWS CloudTrail's records, to a file or a
// stream.
//
// A record is written, with one write, before the response to its request is sent: it survives the end of the process, and is as
// safe from a power failure as the operating system makes it. Options determine whether a request that cannot be recorded is
// rejected or only causes a warning. Rejecting means that an operation that changes something is not started while the last
// record could not be written. The operation that first met the failure gets an internal error, although it has been executed.
//
// By default records contain no attribute values: they have the attribute names of items and keys, PartiQL statements without
// their comments and literals, no expressions, and no error messages that could show a value.
//
// All methods of Log are safe for concurrent use.
package audit

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/server"
)

// The kinds of events.
const (
	Management = "management" // tables, backups, policies, identities, sessions
	Read       = "read"       // of items and stream records
	Write      = "write"      // of items
)

// Events returns all kinds of events.
func Events() []string { return []string{Management, Read, Write} }

// Options configure a log.
type Options struct {
	// File is the path of the log. If it is empty, records go to Writer.
	File   string
	Writer io.Writer
	// MaxBytes is the size at which the file is rotated: it is renamed, with the time appended. 0 means never. Keep is how many
	// rotated files are kept; 0 means all.
	MaxBytes int64
	Keep     int
	// Events are the kinds to record; empty means all.
	Events []string
	// Values includes complete keys, items, expressions and messages in the records.
	Values bool
	// Warn lets requests proceed when they cannot be recorded.
	Warn    bool
	Account string
	Now     func() time.Time
	Logger  *slog.Logger
}

// Log writes records.
type Log struct {
	o Options

	mu     sync.Mutex // held while writing
	sink   sink
	broken error // why the last record could not be written
	lost   int   // records lost since then

	allLost atomic.Int64 // records lost since the log was opened
}

// Open opens the log, so that an unusable file is an error at the start.
func Open(o Options) (*Log, error) {
	for _, event := range o.Events {
		if !slices.Contains(Events(), event) {
			return nil, fmt.Errorf("unknown audit events %q: want management, read or write", event)
		}
	}
	if len(o.Events) == 0 {
		o.Events = Events()
	}
	l := &Log{o: o}
	if o.File == "" {
		if o.Writer == nil {
			return nil, errors.New("audit log: neither File nor Writer is set")
		}
		l.sink = &stream{w: o.Writer}
		return l, nil
	}
	f := &file{name: o.File, max: o.MaxBytes, keep: o.Keep, now: o.Now}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	l.sink = f
	return l, nil
}

// Reopen reopens the file after another program has renamed it.
func (l *Log) Reopen() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.sink.reopen(); err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	return nil
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sink.close()
}

// Parameters returns what a record shows of an operation's input, or nil if it is not recorded.
func (l *Log) Parameters(op api.Operation, in any) json.RawMessage {
	kind := kindOf(op.Name)
	if kind == "" && !l.records(Management) || kind != "" && !l.records(Read) && !l.records(Write) {
		return nil
	}
	return parameters(in, kind != "", l.o.Values)
}

// Admit rejects an operation that changes something while it could not be recorded.
func (l *Log) Admit(op api.Operation) error {
	event := Management
	if kindOf(op.Name) != "" {
		event = Write
	}
	if l.admit(event) != nil {
		return apierr.InternalFault.With()
	}
	return nil
}

// AdmitIAM rejects an owner's change of users, roles, policies and keys while it could not be recorded.
func (l *Log) AdmitIAM() error {
	if err := l.admit(Management); err != nil {
		return fmt.Errorf("the audit log cannot be written, so nothing was changed: %w", err)
	}
	return nil
}

func (l *Log) admit(event string) error {
	if l.o.Warn || !l.records(event) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.resume()
}

// Record writes the record of a DynamoDB request.
func (l *Log) Record(a *server.Audited) error {
	event := kindOf(a.Operation.Name)
	switch {
	case event == "":
		event = Management
	case a.ReadOnly:
		event = Read
	default:
		event = Write
	}
	if !l.records(event) {
		return nil
	}
	r := l.newRecord(a)
	r.EventSource, r.EventName, r.APIVersion = "dynamodb.amazonaws.com", a.Operation.Name, "2012-08-10"
	r.RequestParameters, r.ReadOnly, r.Resources = a.Parameters, a.ReadOnly, l.resources(a)
	if event != Management {
		r.ManagementEvent, r.EventCategory = false, "Data"
	}
	return l.write(r)
}

// Lost returns how many records could not be written since the log was opened.
func (l *Log) Lost() int64 { return l.allLost.Load() }

func (l *Log) records(event string) bool { return slices.Contains(l.o.Events, event) }

// write writes a record. It returns an error if the record is lost and Options require it.
func (l *Log) write(r *record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err = l.resume(); err == nil {
		err = l.sink.write(append(line, '\n'))
	}
	if err != nil && l.broken == nil {
		what := "operations that change data are rejected until it can be written again"
		if l.o.Warn {
			what = "requests continue without being recorded"
		}
		l.o.Logger.Error("cannot write the audit log; "+what, "error", err)
	}
	if l.broken = err; err != nil {
		l.lost++
		l.allLost.Add(1)
	}
	if l.o.Warn {
		return nil
	}
	return err
}

// resume tries to resume after a failure, with a record that says how many are missing. It is called with mu held.
func (l *Log) resume() error {
	if l.broken == nil {
		return nil
	}
	if err := l.sink.reopen(); err != nil {
		return err
	}
	r := l.newRecord(&server.Audited{Owner: true})
	r.EventSource, r.EventName, r.EventType, r.RequestID = "monotable", "ResumeAudit", "AwsServiceEvent", r.EventID
	r.AdditionalEventData = map[string]string{"lostRecords": strconv.Itoa(l.lost)}
	line, err := json.Marshal(r)
	if err == nil {
		err = l.sink.write(append(line, '\n'))
	}
	if err != nil {
		return err
	}
	l.o.Logger.Info("writing the audit log works again", "lost_records", l.lost)
	l.broken, l.lost = nil, 0
	return nil
}

// newID returns a random UUID.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
