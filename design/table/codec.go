package table

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// Codec converts between Go values and stored values. Encode may return nil, which is not stored. Decode of nil, for an
// absent value, is an error unless absent means empty.
type Codec[T any] struct {
	Encode func(T) types.AttributeValue
	Decode func(types.AttributeValue) (T, error)
}

// Text is for texts, IDs and enums. Decoding keeps values that the enum does not have, since another version may have them.
func Text[T ~string]() Codec[T] {
	return Codec[T]{
		Encode: func(x T) types.AttributeValue { return &types.AttributeValueMemberS{Value: string(x)} },
		Decode: func(v types.AttributeValue) (T, error) {
			s, err := typedAs[*types.AttributeValueMemberS](v, "S")
			if err != nil {
				return "", err
			}
			return T(s.Value), nil
		},
	}
}

// Hidden is for secrets.
func Hidden() Codec[Secret] { return Text[Secret]() }

// Int is for int and money.
func Int() Codec[int64] {
	return Codec[int64]{
		Encode: wholeNumber,
		Decode: func(v types.AttributeValue) (int64, error) {
			n, err := typedAs[*types.AttributeValueMemberN](v, "N")
			if err != nil {
				return 0, err
			}
			text, err := keytext.Whole(n.Value)
			if err != nil {
				return 0, undecodable("is not a whole number of 64 bits: " + n.Value)
			}
			return strconv.ParseInt(text, 10, 64)
		},
	}
}

func wholeNumber(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// Number is for decimal.
func Number() Codec[Decimal] {
	return Codec[Decimal]{
		Encode: func(d Decimal) types.AttributeValue { return &types.AttributeValueMemberN{Value: d.String()} },
		Decode: func(v types.AttributeValue) (Decimal, error) {
			n, err := typedAs[*types.AttributeValueMemberN](v, "N")
			if err != nil {
				return Decimal{}, err
			}
			d, err := ParseDecimal(n.Value)
			if err != nil {
				return Decimal{}, undecodable("is not a number: " + n.Value)
			}
			return d, nil
		},
	}
}

// Bool is for bool.
func Bool() Codec[bool] {
	return Codec[bool]{
		Encode: func(b bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: b} },
		Decode: func(v types.AttributeValue) (bool, error) {
			b, err := typedAs[*types.AttributeValueMemberBOOL](v, "BOOL")
			if err != nil {
				return false, err
			}
			return b.Value, nil
		},
	}
}

// Time is for times, with millisecond precision, in UTC. Decoding accepts all forms of RFC 3339.
func Time() Codec[time.Time] {
	return Codec[time.Time]{
		Encode: func(t time.Time) types.AttributeValue {
			return &types.AttributeValueMemberS{Value: t.UTC().Format(keytext.TimeLayout)}
		},
		Decode: func(v types.AttributeValue) (time.Time, error) {
			s, err := typedAs[*types.AttributeValueMemberS](v, "S")
			if err != nil {
				return time.Time{}, err
			}
			t, err := keytext.ParseTime(s.Value)
			if err != nil {
				return time.Time{}, undecodable("is not a time: " + s.Value)
			}
			return t, nil
		},
	}
}

// Seconds is for ttl, with second precision, in UTC.
func Seconds() Codec[time.Time] {
	whole := Int()
	return Codec[time.Time]{
		Encode: func(t time.Time) types.AttributeValue { return wholeNumber(t.Unix()) },
		Decode: func(v types.AttributeValue) (time.Time, error) {
			n, err := whole.Decode(v)
			if err != nil {
				return time.Time{}, err
			}
			return time.Unix(n, 0).UTC(), nil
		},
	}
}

// Day is for date.
func Day() Codec[Date] {
	return Codec[Date]{
		Encode: func(d Date) types.AttributeValue { return &types.AttributeValueMemberS{Value: d.String()} },
		Decode: func(v types.AttributeValue) (Date, error) {
			s, err := typedAs[*types.AttributeValueMemberS](v, "S")
			if err != nil {
				return Date{}, err
			}
			d, err := ParseDate(s.Value)
			if err != nil {
				return Date{}, undecodable("is not a date: " + s.Value)
			}
			return d, nil
		},
	}
}

// Binary is for bytes.
func Binary() Codec[[]byte] {
	return Codec[[]byte]{
		Encode: func(b []byte) types.AttributeValue {
			return &types.AttributeValueMemberB{Value: append([]byte{}, b...)}
		},
		Decode: func(v types.AttributeValue) ([]byte, error) {
			b, err := typedAs[*types.AttributeValueMemberB](v, "B")
			if err != nil {
				return nil, err
			}
			return bytes.Clone(b.Value), nil
		},
	}
}

// ListOf is for lists; an absent list is empty.
func ListOf[T any](elem Codec[T]) Codec[[]T] {
	return Codec[[]T]{
		Encode: func(list []T) types.AttributeValue {
			return &types.AttributeValueMemberL{Value: schema.Each(list, elem.Encode)}
		},
		Decode: func(v types.AttributeValue) ([]T, error) {
			if v == nil {
				return []T{}, nil
			}
			l, err := typedAs[*types.AttributeValueMemberL](v, "L")
			if err != nil {
				return nil, err
			}
			return decodeAll(l.Value, elem)
		},
	}
}

// SetOf is for sets of values stored as S, N or B: sorted like DynamoDB, without duplicates. An empty set is not stored,
// since DynamoDB does not allow it.
func SetOf[T any](elem Codec[T]) Codec[[]T] {
	return Codec[[]T]{
		Encode: func(list []T) types.AttributeValue { return setValue(sortedMembers(schema.Each(list, elem.Encode))) },
		Decode: func(v types.AttributeValue) ([]T, error) {
			if v == nil {
				return []T{}, nil
			}
			members, ok := schema.MembersOf(v)
			if !ok {
				return nil, undecodable("is stored as " + schema.StoredAs(v) + ", not as a set")
			}
			return decodeAll(sortedMembers(members), elem)
		},
	}
}

// MapOf is for maps; an absent map is empty.
func MapOf[T any](elem Codec[T]) Codec[map[string]T] {
	return Codec[map[string]T]{
		Encode: func(m map[string]T) types.AttributeValue {
			out := make(Item, len(m))
			for key, x := range m {
				Set(out, key, elem, x)
			}
			return &types.AttributeValueMemberM{Value: out}
		},
		Decode: func(v types.AttributeValue) (map[string]T, error) {
			if v == nil {
				return map[string]T{}, nil
			}
			m, err := typedAs[*types.AttributeValueMemberM](v, "M")
			if err != nil {
				return nil, err
			}
			out := make(map[string]T, len(m.Value))
			for key, e := range m.Value {
				if out[key], err = elem.Decode(e); err != nil {
					return nil, inside("."+key, err)
				}
			}
			return out, nil
		},
	}
}

// Struct is for structs: encode returns their fields as stored, and decode reads them.
func Struct[T any](encode func(T) Values, decode func(*Decoder) T) Codec[T] {
	return Codec[T]{
		Encode: func(x T) types.AttributeValue { return &types.AttributeValueMemberM{Value: encode(x)} },
		Decode: func(v types.AttributeValue) (T, error) {
			m, err := typedAs[*types.AttributeValueMemberM](v, "M")
			if err != nil {
				var none T
				return none, err
			}
			d := Decode("", m.Value)
			x := decode(d)
			return x, d.Err()
		},
	}
}

func decodeAll[T any](list []types.AttributeValue, elem Codec[T]) ([]T, error) {
	out := make([]T, len(list))
	for i, v := range list {
		var err error
		if out[i], err = elem.Decode(v); err != nil {
			return nil, inside("["+strconv.Itoa(i)+"]", err)
		}
	}
	return out, nil
}

// sortedMembers sorts the members of a set and removes duplicates.
func sortedMembers(members []types.AttributeValue) []types.AttributeValue {
	slices.SortFunc(members, schema.CompareKeys)
	return slices.CompactFunc(members, func(a, b types.AttributeValue) bool { return schema.CompareKeys(a, b) == 0 })
}

// setValue is a set of members, which all have the same stored type; nil if there are none.
func setValue(members []types.AttributeValue) types.AttributeValue {
	if len(members) == 0 {
		return nil
	}
	switch members[0].(type) {
	case *types.AttributeValueMemberS:
		return &types.AttributeValueMemberSS{Value: texts(members)}
	case *types.AttributeValueMemberN:
		return &types.AttributeValueMemberNS{Value: texts(members)}
	case *types.AttributeValueMemberB:
		return &types.AttributeValueMemberBS{Value: schema.Each(members, func(v types.AttributeValue) []byte {
			text, _ := schema.KeyText(v)
			return []byte(text)
		})}
	default:
		panic(fmt.Sprintf("a set holds what is stored as S, N or B, not as %s", schema.StoredAs(members[0])))
	}
}

func texts(members []types.AttributeValue) []string {
	return schema.Each(members, func(v types.AttributeValue) string {
		text, _ := schema.KeyText(v)
		return text
	})
}
