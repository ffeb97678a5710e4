// Package cursor defines the format of cursors: positions in the partitions of a list, encrypted so that a cursor reveals
// nothing and is only valid for the list it was issued for. The caller, package query, defines the scope of a list.
//
// A Sealer is safe for concurrent use.
package cursor

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"time"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// Cursor continues a list after a page; "" is the start, and the end.
type Cursor string

// A cursor is a version, a nonce and a sealed text, in base64url. The text is the position in each partition (see
// EncodePositions), padded so that the cursor's length does not reveal that of keys. XChaCha20-Poly1305 seals it, with
// the scope (see scope) as additional data: a nonce of 192 bits can be random for the lifetime of a key.
const (
	cursorVersion    = 2
	oldCursorVersion = 1 // AES-256-GCM with a key per cursor
	nonceBytes       = chacha20poly1305.NonceSizeX
	cursorPadding    = 32

	minCursorKey = 32
	sealingInfo  = "monotable cursor 2" // separates these keys from others derived from the same secret
)

// Sealer seals cursors and opens them.
type Sealer struct {
	keys []cipher.AEAD // the first one seals
}

// NewSealer makes a Sealer; nil if there is no key.
func NewSealer(current []byte, old [][]byte) (*Sealer, error) {
	if len(current) == 0 && len(old) == 0 {
		return nil, nil
	}
	s := &Sealer{}
	for i, secret := range append([][]byte{current}, old...) {
		if len(secret) < minCursorKey {
			name := "Config.CursorKey"
			if i > 0 {
				name = fmt.Sprintf("Config.OldCursorKeys[%d]", i-1)
			}
			return nil, fmt.Errorf("%s has %d bytes: it must have at least %d, from a random source", name, len(secret), minCursorKey)
		}
		key, err := hkdf.Key(sha256.New, secret, nil, sealingInfo, chacha20poly1305.KeySize)
		if err != nil {
			return nil, fmt.Errorf("derive the key of cursors: %w", err)
		}
		aead, err := chacha20poly1305.NewX(key)
		if err != nil {
			return nil, fmt.Errorf("derive the key of cursors: %w", err)
		}
		s.keys = append(s.keys, aead)
	}
	return s, nil
}

// Seal makes a cursor that Open only accepts with the same scope.
func (s *Sealer) Seal(scope, text []byte) Cursor {
	sealed := make([]byte, 1+nonceBytes, 1+nonceBytes+len(text)+2*cursorPadding)
	sealed[0] = cursorVersion
	nonce := sealed[1:]
	_, _ = rand.Read(nonce)                                               // never fails
	padded := append(text, make([]byte, -len(text)&(cursorPadding-1))...) //nolint:gocritic // this is the last use of text
	return Cursor(base64.RawURLEncoding.EncodeToString(s.keys[0].Seal(sealed, nonce, padded, scope)))
}

// Open returns the text of a cursor, with its padding. The error for any invalid cursor is ErrCursor.
func (s *Sealer) Open(scope []byte, c Cursor) ([]byte, error) {
	sealed, err := base64.RawURLEncoding.DecodeString(string(c))
	if err != nil || len(sealed) < 1+nonceBytes {
		return nil, schema.ErrCursor
	}
	if sealed[0] == oldCursorVersion {
		return nil, fmt.Errorf("%w: it was created by an earlier release of monotable: start the list again", schema.ErrCursor)
	}
	if sealed[0] != cursorVersion || base64.RawURLEncoding.EncodeToString(sealed) != string(c) {
		return nil, schema.ErrCursor // line breaks, or trailing bits: the same bytes, but not the cursor that was issued
	}
	nonce := sealed[1 : 1+nonceBytes]
	for _, key := range s.keys {
		if text, err := key.Open(nil, nonce, sealed[1+nonceBytes:], scope); err == nil {
			return text, nil
		}
	}
	return nil, schema.ErrCursor
}

// Position is how far a partition has been read: not at all, up to a key, or to its end.
type Position struct {
	At   schema.Item // the last key that was consumed; nil if there is none
	Done bool
}

// The states of a partition in a cursor.
const (
	atBegin byte = iota
	atKey
	atEnd
)

// EncodePeriod encodes the position of a walk over periods, which precedes the result of EncodePositions: when it
// started, to the millisecond, and the start of the period.
func EncodePeriod(began time.Time, at string) []byte {
	out := binary.AppendVarint(nil, began.UnixMilli())
	return append(binary.AppendUvarint(out, uint64(len(at))), at...)
}

// DecodePeriod is the inverse, with what is behind it.
func DecodePeriod(text []byte) (began time.Time, at string, rest []byte, err error) {
	millis, n := binary.Varint(text)
	if n <= 0 {
		return began, "", nil, schema.ErrCursor
	}
	d := positionDecoder{text: text[n:]}
	at = string(d.bytes())
	return time.UnixMilli(millis).UTC(), at, d.text, d.err
}

// EncodePositions appends to a text the maximum number of further items (0 means no limit), then for each partition its
// state and, if it has started, the attributes of the last key that are not in the partition key.
func EncodePositions(out []byte, left int, positions []Position, attributes []schema.Attribute) ([]byte, error) {
	out = binary.AppendUvarint(out, uint64(max(left, 0))) //nolint:gosec // not negative
	for _, p := range positions {
		switch {
		case p.Done:
			out = append(out, atEnd)
			continue
		case p.At == nil:
			out = append(out, atBegin)
			continue
		}
		out = append(out, atKey)
		for _, a := range attributes {
			text, ok := schema.KeyText(p.At[a.Name])
			if !ok {
				return nil, fmt.Errorf("DynamoDB returned an item without its key attribute %s", a.Name)
			}
			out = binary.AppendUvarint(out, uint64(len(text)))
			out = append(out, text...)
		}
	}
	return out, nil
}

// DecodePositions is the inverse, for the same number of partitions; the keys also have the partitions' own attributes.
func DecodePositions(text []byte, partitions []schema.Item, attributes []schema.Attribute) (left int, positions []Position, err error) {
	d := positionDecoder{text: text}
	left = d.number()
	for _, partition := range partitions {
		var p Position
		switch d.state() {
		case atBegin:
		case atEnd:
			p.Done = true
		case atKey:
			p.At = maps.Clone(partition)
			if p.At == nil { // for a Scan
				p.At = schema.Item{}
			}
			for _, a := range attributes {
				p.At[a.Name] = a.ValueOf(d.bytes())
			}
		default:
			d.fail()
		}
		positions = append(positions, p)
	}
	if d.end(); d.err != nil {
		return 0, nil, d.err
	}
	return left, positions, nil
}

// positionDecoder decodes a text; after an error it returns nothing.
type positionDecoder struct {
	text []byte
	err  error
}

func (d *positionDecoder) fail() { d.text, d.err = nil, schema.ErrCursor }

func (d *positionDecoder) number() int {
	n, size := binary.Uvarint(d.text)
	if size <= 0 || n > 1<<31 {
		d.fail()
		return 0
	}
	d.text = d.text[size:]
	return int(n)
}

func (d *positionDecoder) state() byte {
	if len(d.text) == 0 {
		d.fail()
		return atBegin
	}
	s := d.text[0]
	d.text = d.text[1:]
	return s
}

func (d *positionDecoder) bytes() []byte {
	n := d.number()
	if n > len(d.text) {
		d.fail()
		return nil
	}
	b := d.text[:n]
	d.text = d.text[n:]
	return b
}

// end requires that only padding is left.
func (d *positionDecoder) end() {
	for _, b := range d.text {
		if b != 0 {
			d.fail()
			return
		}
	}
}
