package attr

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// String formats the value like DynamoDB JSON, for messages and tests: {"S":"a"}.
func (v Value) String() string {
	var b strings.Builder
	v.write(&b)
	return b.String()
}

// String formats the item like DynamoDB JSON, for messages and tests.
func (it Item) String() string {
	var b strings.Builder
	it.write(&b)
	return b.String()
}

func (v Value) write(b *strings.Builder) {
	if v.kind == KindInvalid {
		b.WriteString("{}")
		return
	}
	b.WriteString(`{"` + v.kind.String() + `":`)
	switch v.kind {
	case KindBool:
		b.WriteString(strconv.FormatBool(v.b))
	case KindNull:
		b.WriteString("true")
	case KindList:
		writeElems(b, v.Elems(), Value.write)
	case KindMap:
		v.Item().write(b)
	case KindStringSet, KindNumberSet, KindBinarySet:
		writeElems(b, v.Elems(), Value.writeText)
	default:
		v.writeText(b)
	}
	b.WriteByte('}')
}

func (v Value) writeText(b *strings.Builder) {
	text := v.Text()
	if v.kind == KindBinary {
		text = base64.StdEncoding.EncodeToString([]byte(text))
	}
	b.WriteString(strconv.Quote(text))
}

func writeElems(b *strings.Builder, elems []Value, one func(Value, *strings.Builder)) {
	b.WriteByte('[')
	for i, e := range elems {
		if i > 0 {
			b.WriteByte(',')
		}
		one(e, b)
	}
	b.WriteByte(']')
}

func (it Item) write(b *strings.Builder) {
	b.WriteByte('{')
	for i := range it {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(it[i].Name))
		b.WriteByte(':')
		it[i].Value.write(b)
	}
	b.WriteByte('}')
}
