package wire

import (
	"errors"
	"io"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-faster/jx"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// Decode decodes a request body into an input struct of package api; in is a pointer to it. Every error is an *apierr.Error: a
// SerializationException. The result does not alias body.
func Decode(body []byte, in any) error { return decode(body, in, false) }

// DecodeKnown is Decode with unknown members being errors.
func DecodeKnown(body []byte, in any) error { return decode(body, in, true) }

func decode(body []byte, in any, known bool) error {
	if !utf8.Valid(body) || hasLoneSurrogate(body) {
		return apierr.Malformed()
	}
	d := decoders.Get().(*decoder)
	d.reset(body)
	defer d.release()
	d.known = known
	v := reflect.ValueOf(in).Elem()
	p := readPlanOf(v.Type())
	if err := d.structure(p, v, p.target); err != nil {
		return d.clientError(err)
	}
	if !d.atEnd() {
		return apierr.Malformed()
	}
	return nil
}

// decoder is the state of one Decode.
type decoder struct {
	jx   jx.Decoder
	size int // of the body
	// known makes unknown members errors.
	known bool
	// text holds the names and texts of attribute values, concatenated.
	text strings.Builder
	// yielded is the length of text when other goroutines last had a turn.
	yielded int
	// fields and values are stacks on which items, lists and sets are collected before their size is known.
	fields []attr.Field
	values []attr.Value
	raw    []byte // decoded base64
}

// decoders pools decoders for their stacks.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

// yieldBytes is how much text is read before other goroutines get a turn: a large body takes many milliseconds.
const yieldBytes = 64 << 10

// stackMax limits the size of a pooled decoder's stacks.
const stackMax = 4096

func (d *decoder) reset(body []byte) {
	d.jx.ResetBytes(body)
	d.size = len(body)
}

// release returns the decoder to the pool, without references. Popped stack entries are already cleared; after an error, some may
// be left.
func (d *decoder) release() {
	d.jx.ResetBytes(nil)
	d.text, d.yielded = strings.Builder{}, 0
	if cap(d.fields) > stackMax || cap(d.values) > stackMax || cap(d.raw) > stackMax {
		return
	}
	clear(d.fields)
	clear(d.values)
	d.fields, d.values, d.raw = d.fields[:0], d.values[:0], d.raw[:0]
	decoders.Put(d)
}

// clientError returns err as the client sees it: errors of the JSON reader have no message.
func (d *decoder) clientError(err error) error {
	if e, ok := errors.AsType[*apierr.Error](err); ok {
		return e
	}
	return apierr.Malformed()
}

// atEnd reports whether only white space follows.
func (d *decoder) atEnd() bool {
	if d.jx.Next() != jx.Invalid {
		return false
	}
	err := d.jx.Skip()
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// keep copies text into the request's own memory, and returns it as a string.
func (d *decoder) keep(text []byte) string {
	start := d.text.Len()
	if start == 0 {
		// Texts are never longer than their JSON, including escapes and base64.
		d.text.Grow(d.size)
	}
	d.text.Write(text)
	if d.text.Len()-d.yielded >= yieldBytes {
		d.yielded = d.text.Len()
		runtime.Gosched()
	}
	return d.text.String()[start:]
}

// null skips a null; ok is false if the next value is something else.
func (d *decoder) null() (ok bool, err error) {
	if d.jx.Next() != jx.Null {
		return false, nil
	}
	return true, d.jx.Null()
}

// object opens a JSON object for a value of type want.
func (d *decoder) object(want *target) (jx.ObjIter, error) {
	if d.jx.Next() != jx.Object {
		return jx.ObjIter{}, d.mismatch(want)
	}
	return d.jx.ObjIter()
}

// array opens a JSON array for a value of type want.
func (d *decoder) array(want *target) (jx.ArrIter, error) {
	if d.jx.Next() != jx.Array {
		return jx.ArrIter{}, d.mismatch(want)
	}
	return d.jx.ArrIter()
}

// structure reads a struct of package api.
func (d *decoder) structure(p *readPlan, v reflect.Value, want *target) error {
	members, err := d.object(want)
	if err != nil {
		return err
	}
	for members.Next() {
		m, known := p.members[string(members.Key())]
		if !known && d.known {
			return apierr.UnknownMember.With(string(members.Key()))
		}
		if !known {
			if err := d.jx.Skip(); err != nil {
				return err
			}
			continue
		}
		if err := m.into(d, v.Field(m.index)); err != nil {
			return err
		}
	}
	return members.Err()
}
