package schema

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Short constructors of descriptors for generated code.

// TemplateOf reads a template as a design writes it, "ORDER#{createdAt}#{orderId|lower}", which must be one.
func TemplateOf(text string) Template {
	var out Template
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			out = append(out, Part{Literal: literal.String()})
			literal.Reset()
		}
	}
	for text != "" {
		switch brace := text[0] == '{' || text[0] == '}'; {
		case brace && len(text) > 1 && text[1] == text[0]:
			literal.WriteByte(text[0])
			text = text[2:]
		case brace:
			flush()
			var inner string
			inner, text, _ = strings.Cut(text[1:], "}")
			out = append(out, fieldPart(inner))
		default:
			literal.WriteByte(text[0])
			text = text[1:]
		}
	}
	flush()
	return out
}

// fieldPart is a part of a field: "orderId|lower|first(3)".
func fieldPart(text string) Part {
	name, calls, _ := strings.Cut(text, "|")
	p := Part{Field: name}
	for call := range strings.SplitSeq(calls, "|") {
		if fn, arg, _ := strings.Cut(strings.TrimSuffix(call, ")"), "("); fn != "" {
			p.Funcs = append(p.Funcs, Func{Name: fn, Arg: arg})
		}
	}
	return p
}

// String is the template as a design writes it.
func (t Template) String() string {
	var out strings.Builder
	for _, p := range t {
		if p.Field == "" {
			out.WriteString(strings.NewReplacer("{", "{{", "}", "}}").Replace(p.Literal))
			continue
		}
		out.WriteString("{" + p.Field)
		for _, f := range p.Funcs {
			out.WriteString("|" + f.Name)
			if f.Arg != "" {
				out.WriteString("(" + f.Arg + ")")
			}
		}
		out.WriteString("}")
	}
	return out.String()
}

// TextKey is a key attribute of type S that exists only for the key, with its template.
func TextKey(name, template string) KeyAttribute {
	return KeyAttribute{Attribute: Attribute{Name: name, Type: types.ScalarAttributeTypeS}, Template: TemplateOf(template)}
}

// FieldKey is a key attribute that a field is stored in.
func FieldKey(name string, of types.ScalarAttributeType, field string) KeyAttribute {
	return KeyAttribute{Attribute: Attribute{Name: name, Type: of}, Template: Template{{Field: field}}, Field: field}
}
