package audit

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
)

// dataEvents are the operations on items and stream records, which AWS calls data events, and whether they read or write.
var dataEvents = map[string]string{
	"BatchExecuteStatement": Write, "BatchGetItem": Read, "BatchWriteItem": Write, "DeleteItem": Write, "ExecuteStatement": Write,
	"ExecuteTransaction": Write, "GetItem": Read, "GetRecords": Read, "GetShardIterator": Read, "PutItem": Write, "Query": Read, "Scan": Read,
	"SearchVectors": Read, "TransactGetItems": Read, "TransactWriteItems": Write, "UpdateItem": Write,
}

// kindOf returns the kind of event of an operation on items, or "" for management.
func kindOf(operation string) string { return dataEvents[operation] }

// plainMembers are members of the inputs of data events that contain no attribute values: names of tables and indexes,
// enumerations.
var plainMembers = map[string]bool{
	"TableName": true, "IndexName": true, "ReturnConsumedCapacity": true, "ReturnItemCollectionMetrics": true, "ReturnValues": true,
	"ReturnValuesOnConditionCheckFailure": true, "Select": true, "ConditionalOperator": true, "StreamArn": true, "ShardId": true,
	"ShardIteratorType": true,
}

// listMax is the maximum number of list elements shown. In data events without values, at most nameMax bytes of a name are shown,
// and no further elements or members after parametersMax bytes, so that a single request cannot fill the disk.
const (
	listMax       = 100
	nameMax       = 255
	parametersMax = 100 << 10
)

// parameters formats an input like CloudTrail: member names start with a lower-case letter, items and keys are lists of attribute
// names.
func parameters(in any, data, values bool) json.RawMessage {
	p := &printer{data: data, values: values}
	p.value(reflect.ValueOf(in), "")
	if !json.Valid(p.out) {
		return nil
	}
	return p.out
}

// printer writes an input as JSON.
type printer struct {
	data, values bool
	out          []byte
}

var (
	itemType  = reflect.TypeFor[attr.Item]()
	valueType = reflect.TypeFor[attr.Value]()
)

// shown reports whether a member is in the record at all.
func (p *printer) shown(v reflect.Value, name string) bool {
	if !v.IsValid() || v.IsZero() {
		return false
	}
	t := v.Type()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	hidden := p.names()
	switch t.Kind() {
	case reflect.String:
		return !hidden || plainMembers[name] || name == "Statement"
	case reflect.Slice:
		element := t.Elem()
		for element.Kind() == reflect.Pointer {
			element = element.Elem()
		}
		return t == itemType || !hidden || element.Kind() == reflect.Struct && element != valueType || element.Kind() == reflect.Slice
	case reflect.Map:
		return !hidden || name == "RequestItems" || t.Elem().Kind() == reflect.Struct
	case reflect.Struct:
		return t != valueType || p.values
	case reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64:
		return true
	default:
		return false
	}
}

func (p *printer) value(v reflect.Value, name string) {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		text := v.String()
		if name == "Statement" && !p.values {
			text = withoutLiterals(text)
		}
		p.text(text)
	case reflect.Bool:
		p.out = strconv.AppendBool(p.out, v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		p.out = strconv.AppendInt(p.out, v.Int(), 10)
	case reflect.Float32, reflect.Float64:
		p.out = strconv.AppendFloat(p.out, v.Float(), 'g', -1, 64)
	case reflect.Slice:
		p.slice(v, name)
	case reflect.Map:
		p.object(v, name)
	case reflect.Struct:
		p.structure(v)
	default:
		p.out = append(p.out, "null"...)
	}
}

func (p *printer) text(text string) {
	quoted, _ := json.Marshal(text)
	p.out = append(p.out, quoted...)
}

// name writes the name of an attribute or a table.
func (p *printer) name(name string) {
	if p.names() && len(name) > nameMax {
		name = strings.ToValidUTF8(name[:nameMax], "")
	}
	p.text(name)
}

// names reports whether only names are shown.
func (p *printer) names() bool { return p.data && !p.values }

// full reports whether the limit of the output is reached.
func (p *printer) full() bool { return p.names() && len(p.out) >= parametersMax }

func (p *printer) slice(v reflect.Value, name string) {
	if v.Type() == itemType {
		item, _ := reflect.TypeAssert[attr.Item](v)
		if p.values {
			p.out = wire.AppendAttributes(p.out, item)
			return
		}
		p.out = append(p.out, '[')
		for i := range item[:min(len(item), listMax)] {
			p.comma(i)
			p.name(item[i].Name)
		}
		p.out = append(p.out, ']')
		return
	}
	p.out = append(p.out, '[')
	for i := range min(v.Len(), listMax) {
		if p.full() {
			break
		}
		p.comma(i)
		p.value(v.Index(i), name)
	}
	p.out = append(p.out, ']')
}

func (p *printer) object(v reflect.Value, name string) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	p.out = append(p.out, '{')
	for i, key := range keys[:min(len(keys), listMax)] {
		if p.full() {
			break
		}
		p.comma(i)
		p.name(key.String())
		p.out = append(p.out, ':')
		p.value(v.MapIndex(key), name)
	}
	p.out = append(p.out, '}')
}

func (p *printer) structure(v reflect.Value) {
	if v.Type() == valueType {
		value, _ := reflect.TypeAssert[attr.Value](v)
		p.out = wire.AppendAttributes(p.out, attr.Item{{Name: "value", Value: value}})
		return
	}
	p.out = append(p.out, '{')
	first := true
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() || p.full() || !p.shown(v.Field(i), field.Name) {
			continue
		}
		if !first {
			p.out = append(p.out, ',')
		}
		first = false
		p.text(lowerFirst(field.Name))
		p.out = append(p.out, ':')
		p.value(v.Field(i), field.Name)
	}
	p.out = append(p.out, '}')
}

func (p *printer) comma(i int) {
	if i > 0 {
		p.out = append(p.out, ',')
	}
}

// lowerFirst converts the first letter to lower case, like CloudTrail: SSESpecification becomes sSESpecification.
func lowerFirst(name string) string {
	r, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToLower(r)) + name[size:]
}

// withoutLiterals replaces the literals in a PartiQL statement with ***, and comments, which may contain some, with a space. Names
// may be in double quotes, values are not.
func withoutLiterals(statement string) string {
	var b strings.Builder
	valueNext, between := false, false // where a value follows: after VALUE, and in BETWEEN … AND …
	for i := 0; i < len(statement); {
		switch c := statement[i]; {
		case c == '-' && strings.HasPrefix(statement[i:], "--"), c == '/' && strings.HasPrefix(statement[i:], "/*"):
			b.WriteByte(' ')
			i = endOfComment(statement, i)
		case c == '\'' || c == '`':
			b.WriteString("***")
			i = endOfQuoted(statement, i)
		case c == '"':
			end := endOfQuoted(statement, i)
			if valueNext || mayBeValue(b.String()) {
				b.WriteString("***")
			} else {
				b.WriteString(statement[i:end])
			}
			valueNext, i = false, end
		case c >= '0' && c <= '9' || c == '.' && i+1 < len(statement) && isDigit(statement[i+1]):
			b.WriteString("***")
			for i < len(statement) && (isWord(statement[i]) || statement[i] == '.' || (statement[i] == '-' || statement[i] == '+') && (statement[i-1]|0x20) == 'e') {
				i++
			}
		case isWord(c):
			end := i
			for end < len(statement) && isWord(statement[end]) {
				end++
			}
			word := statement[i:end]
			valueNext = false
			switch strings.ToLower(word) {
			case "between":
				valueNext, between = true, true
			case "and":
				valueNext, between = between, false
			case "value":
				valueNext = true
			case "true", "false":
				word = "***"
			}
			b.WriteString(word)
			i = end
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// mayBeValue reports whether a value could be here, written by someone who quotes values with double quotes.
func mayBeValue(before string) bool {
	before = strings.TrimRight(before, " \t\r\n")
	return before != "" && strings.ContainsRune("=<>:,[({+-", rune(before[len(before)-1]))
}

// endOfComment returns where the comment from begin on ends.
func endOfComment(s string, begin int) int {
	end := strings.IndexAny(s[begin:], "\r\n")
	if s[begin] == '/' {
		if end = strings.Index(s[begin+2:], "*/"); end >= 0 {
			end += len("/**/")
		}
	}
	if end < 0 {
		return len(s)
	}
	return begin + end
}

// endOfQuoted returns where the quoted text from begin on ends; a quote inside it is doubled.
func endOfQuoted(s string, begin int) int {
	for i := begin + 1; i < len(s); i++ {
		if s[i] != s[begin] {
			continue
		}
		if i+1 < len(s) && s[i+1] == s[begin] {
			i++
			continue
		}
		return i + 1
	}
	return len(s)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return c == '_' || isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf
}
