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

// Decode reads a request body into an input struct of package api; in is a pointer to it. Every error is an
// *apierr.Error: a SerializationException. The result does not alias body.
func Decode(body []byte, in any) error { return decode(body, in, false) }

// DecodeKnown is Decode for what must not have members that in does not have.
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
	// known refuses members that the struct does not have.
	known bool
	// text holds the names and texts of attribute values, one after the other.
	text strings.Builder
	// yielded is the length of text at the last turn of other goroutines.
	yielded int
	// fields and values are stacks on which items, lists and sets are gathered before their size is known.
	fields []attr.Field
	values []attr.Value
	raw    []byte // decoded base64
}

// decoders keeps decoders for their stacks.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

// yieldBytes is how much text is read before other goroutines get their turn: a large body takes many milliseconds.
const yieldBytes = 64 << 10

// stackMax bounds what a pooled decoder keeps.
const stackMax = 4096

func (d *decoder) reset(body []byte) {
	d.jx.ResetBytes(body)
	d.size = len(body)
}

// release gives the decoder back, without what it refers to. What was popped off the stacks is clear
// already; after an error, something may be left on them.
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

// clientError returns err as the client sees it: errors of the JSON reader carry no message.
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

// keep copies text into the request's own, and returns it as a string.
func (d *decoder) keep(text []byte) string {
	start := d.text.Len()
	if start == 0 {
		// Texts are never longer than the JSON they stand in, escapes and base64 included.
		d.text.Grow(d.size)
	}
	d.text.Write(text)
	if d.text.Len()-d.yielded >= yieldBytes {
		d.yielded = d.text.Len()
		runtime.Gosched()
	}
	return d.text.String()[start:]
}

// null skips a null; ok is false where something else comes.
func (d *decoder) null() (ok bool, err error) {
	if d.jx.Next() != jx.Null {
		return false, nil
	}
	return true, d.jx.Null()
}

// object opens a JSON object where the model has want.
func (d *decoder) object(want *target) (jx.ObjIter, error) {
	if d.jx.Next() != jx.Object {
		return jx.ObjIter{}, d.mismatch(want)
	}
	return d.jx.ObjIter()
}

// array opens a JSON array where the model has want.
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
