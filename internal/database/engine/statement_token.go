package engine

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// A NextToken is the base64 of
//
//	fingerprint  16 bytes, of the statement and its parameters
//	partition    uvarint
//	count        uvarint: the key attributes of the last item; 0 for none
//	             and for each of them, by name: its kind (1 byte), the length of its text (uvarint), the text
//
// It is not authenticated. Its contents are checked like an ExclusiveStartKey, so a forged token is rejected or names a place in
// the statement's own range.
const tokenFingerprintBytes = 16

func (s *statement) tokenFingerprint() []byte {
	d := digest{hash: sha256.New()}
	s.digest(&d)
	return d.hash.Sum(nil)[:tokenFingerprintBytes]
}

// nextToken returns the token of a place, or nil for none.
func (s *statement) nextToken(p *place) *string {
	if p == nil {
		return nil
	}
	b := s.tokenFingerprint()
	b = binary.AppendUvarint(b, uint64(p.partition))
	b = binary.AppendUvarint(b, uint64(len(p.last)))
	for _, f := range p.last {
		text := f.Value.Text()
		b = append(b, byte(f.Value.Kind()))
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	token := base64.StdEncoding.EncodeToString(b)
	return &token
}

// placeOf decodes a token of the statement; names are the key attributes of the source.
func (s *statement) placeOf(token *string, partitions int, names []string) (place, error) {
	if token == nil {
		return place{}, nil
	}
	b, err := base64.StdEncoding.DecodeString(*token)
	if err != nil || len(b) < tokenFingerprintBytes {
		return place{}, apierr.StatementToken.With()
	}
	if string(b[:tokenFingerprintBytes]) != string(s.tokenFingerprint()) {
		return place{}, apierr.StatementOtherToken.With()
	}
	r := tokenReader{rest: b[tokenFingerprintBytes:]}
	p := place{partition: int(r.number(uint64(max(1, partitions)) - 1))}
	if n := r.number(uint64(len(names))); n > 0 {
		if n != uint64(len(names)) {
			return place{}, apierr.StatementToken.With()
		}
		for _, name := range names {
			p.last = append(p.last, attr.Field{Name: name, Value: r.value()})
		}
	}
	if r.failed || len(r.rest) > 0 {
		return place{}, apierr.StatementToken.With()
	}
	return p, nil
}

// tokenReader decodes the parts of a token, and remembers whether any was malformed.
type tokenReader struct {
	rest   []byte
	failed bool
}

// number reads a number that is at most most.
func (r *tokenReader) number(most uint64) uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > most {
		r.failed, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// value reads the value of a key attribute.
func (r *tokenReader) value() attr.Value {
	kind := attr.Kind(r.number(uint64(attr.KindBinary)))
	size := r.number(uint64(len(r.rest)))
	if uint64(len(r.rest)) < size {
		r.failed = true
		return attr.Value{}
	}
	text := string(r.rest[:size])
	r.rest = r.rest[size:]
	var v attr.Value
	switch kind {
	case attr.KindString:
		v = attr.String(text)
	case attr.KindNumber:
		v = attr.ParseNumber(text)
	case attr.KindBinary:
		v = attr.Binary(text)
	default:
	}
	if v.Kind() == attr.KindInvalid {
		r.failed = true
	}
	return v
}
