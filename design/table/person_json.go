package table

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// The kinds whose stored form differs from their JSON.
const (
	secretKind Kind = "secret"
	ttlKind    Kind = "ttl"
	structKind Kind = "struct"
)

// appendFields writes fields as an object, in their order. Secrets and absent fields are left out.
func appendFields(out []byte, fields []Field, value func(*Field) types.AttributeValue) []byte {
	out = append(out, '{')
	first := true
	for i := range fields {
		f := &fields[i]
		v := value(f)
		if v == nil || f.Type.Kind == secretKind {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(appendText(out, f.Name), ':')
		out = appendValue(out, &f.Type, v)
	}
	return append(out, '}')
}

// appendValue writes a value of a type; parts unknown to the type are written as stored.
func appendValue(out []byte, t *Type, v types.AttributeValue) []byte {
	elem := &Type{}
	if t.Elem != nil {
		elem = t.Elem
	}
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return appendText(out, v.Value)
	case *types.AttributeValueMemberN:
		if t.Kind == ttlKind {
			if seconds, err := strconv.ParseInt(v.Value, 10, 64); err == nil {
				return appendText(out, time.Unix(seconds, 0).UTC().Format("2006-01-02T15:04:05.000Z")) // as other times
			}
		}
		return append(out, v.Value...)
	case *types.AttributeValueMemberBOOL:
		return strconv.AppendBool(out, v.Value)
	case *types.AttributeValueMemberB:
		return appendText(out, base64.StdEncoding.EncodeToString(v.Value))
	case *types.AttributeValueMemberSS:
		return appendList(out, v.Value, appendText)
	case *types.AttributeValueMemberNS:
		return appendList(out, v.Value, func(out []byte, n string) []byte { return append(out, n...) })
	case *types.AttributeValueMemberBS:
		return appendList(out, v.Value, func(out []byte, b []byte) []byte { return appendText(out, base64.StdEncoding.EncodeToString(b)) })
	case *types.AttributeValueMemberL:
		return appendList(out, v.Value, func(out []byte, v types.AttributeValue) []byte { return appendValue(out, elem, v) })
	case *types.AttributeValueMemberM:
		if t.Kind == structKind && t.Fields != nil {
			return appendFields(out, *t.Fields, func(f *Field) types.AttributeValue { return schema.At(v.Value, f.Path) })
		}
		return appendMap(out, elem, v.Value)
	default:
		return append(out, "null"...)
	}
}

func appendMap(out []byte, elem *Type, m Item) []byte {
	out = append(out, '{')
	for i, name := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendText(out, name), ':')
		out = appendValue(out, elem, m[name])
	}
	return append(out, '}')
}

func appendList[T any](out []byte, list []T, one func([]byte, T) []byte) []byte {
	out = append(out, '[')
	for i, x := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = one(out, x)
	}
	return append(out, ']')
}

func appendText(out []byte, s string) []byte {
	text, _ := json.Marshal(s) // a string always encodes
	return append(out, text...)
}
