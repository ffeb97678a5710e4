package cloudwatch

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

const (
	apiVersion   = "2010-08-01"
	xmlNamespace = "http://monitoring.amazonaws.com/doc/" + apiVersion + "/"
)

// depthMax is deeper than any member of an input.
const depthMax = 12

// queryProtocol is AWS Query: parameters such as Dimensions.member.1.Name in, XML out.
type queryProtocol struct{}

func (queryProtocol) decode(_ *http.Request, body []byte) (string, func(any) error, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return "", nil, malformed("The request body cannot be read: %v", err)
	}
	operation := form.Get("Action")
	switch {
	case operation == "":
		return "", nil, &fault{http.StatusBadRequest, "MissingAction", "", "The request is missing an action."}
	case form.Get("Version") != apiVersion:
		return "", nil, queryProtocol{}.unknownIn(operation, form.Get("Version"))
	}
	root := new(parameter)
	for name, values := range form {
		root.put(name, values[0])
	}
	return operation, func(in any) error { return root.fill(reflect.ValueOf(in).Elem(), "") }, nil
}

func (p queryProtocol) unknown(operation string) *fault { return p.unknownIn(operation, apiVersion) }

func (queryProtocol) unknownIn(operation, version string) *fault {
	f := unknownOperation(operation)
	f.message = fmt.Sprintf("Could not find operation %s for version %s", operation, cmp.Or(version, "NO_VERSION_SPECIFIED"))
	return f
}

// parameter is a node in the tree formed by the names of parameters.
type parameter struct {
	value   *string
	members map[string]*parameter
}

func (p *parameter) put(name, value string) {
	parts := strings.SplitN(name, ".", depthMax)
	for _, part := range parts {
		next := p.members[part]
		if next == nil {
			if p.members == nil {
				p.members = map[string]*parameter{}
			}
			next = new(parameter)
			p.members[part] = next
		}
		p = next
	}
	p.value = &value
}

// fill sets v, whose path in the input is at, from the parameter.
func (p *parameter) fill(v reflect.Value, at string) error {
	if t, ok := reflect.TypeAssert[*moment](v.Addr()); ok {
		if err := t.setText(p.text()); err != nil {
			return malformed("%s: %v", at, err)
		}
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return p.fill(v.Elem(), at)
	case reflect.Struct:
		for i := range v.NumField() {
			name := memberName(v.Type().Field(i))
			if member := p.members[name]; member != nil {
				if err := member.fill(v.Field(i), strings.TrimPrefix(at+"."+name, ".")); err != nil {
					return err
				}
			}
		}
	case reflect.Slice:
		return p.fillList(v, at)
	case reflect.String:
		v.SetString(p.text())
	case reflect.Int64:
		n, err := strconv.ParseInt(p.text(), 10, 32)
		if err != nil {
			return malformed("%s: %q is not an integer", at, p.text())
		}
		v.SetInt(n)
	case reflect.Bool:
		yes, err := strconv.ParseBool(p.text())
		if err != nil {
			return malformed("%s: %q is neither true nor false", at, p.text())
		}
		v.SetBool(yes)
	default:
		return fmt.Errorf("cloudwatch: an input has a member of kind %v", v.Kind())
	}
	return nil
}

// fillList sets a list from the parameters member.1, member.2 and so on.
func (p *parameter) fillList(v reflect.Value, at string) error {
	list := p.members["member"]
	if list == nil {
		return nil
	}
	numbers := map[int]*parameter{}
	for text, member := range list.members {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return malformed("%s.member.%s: %q is not a list index", at, text, text)
		}
		numbers[n] = member
	}
	v.Set(reflect.MakeSlice(v.Type(), len(numbers), len(numbers)))
	for i, n := range slices.Sorted(maps.Keys(numbers)) {
		if err := numbers[n].fill(v.Index(i), fmt.Sprintf("%s.member.%d", at, n)); err != nil {
			return err
		}
	}
	return nil
}

func (p *parameter) text() string {
	if p.value == nil {
		return ""
	}
	return *p.value
}

// memberName returns a field's name in the API.
func memberName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return cmp.Or(name, f.Name)
}

func xmlHeader() http.Header { return http.Header{headerContentType: {"text/xml"}} }

func (queryProtocol) encode(operation string, out any, id string) (http.Header, []byte, error) {
	var b xmlBuffer
	fmt.Fprintf(&b, `<%sResponse xmlns="%s">`, operation, xmlNamespace)
	b.element(operation+"Result", reflect.ValueOf(out).Elem())
	b.WriteString("<ResponseMetadata>")
	b.element("RequestId", reflect.ValueOf(id))
	fmt.Fprintf(&b, "</ResponseMetadata></%sResponse>\n", operation)
	return xmlHeader(), b.Bytes(), nil
}

func (queryProtocol) fail(f *fault, id string) (int, http.Header, []byte) {
	var b xmlBuffer
	fmt.Fprintf(&b, `<ErrorResponse xmlns="%s"><Error>`, xmlNamespace)
	b.element("Type", reflect.ValueOf(f.sender()))
	b.element("Code", reflect.ValueOf(f.code))
	b.element("Message", reflect.ValueOf(f.message))
	b.WriteString("</Error>")
	b.element("RequestId", reflect.ValueOf(id))
	b.WriteString("</ErrorResponse>\n")
	return f.status, xmlHeader(), b.Bytes()
}

// xmlBuffer writes outputs like AWS Query: list elements are named member, map elements entry.
type xmlBuffer struct{ bytes.Buffer }

func (b *xmlBuffer) element(name string, v reflect.Value) {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	b.WriteString("<" + name + ">")
	b.content(v)
	b.WriteString("</" + name + ">")
}

func (b *xmlBuffer) content(v reflect.Value) {
	if t, ok := reflect.TypeAssert[moment](v); ok {
		b.WriteString(t.text())
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.Kind() == reflect.Slice || !field.IsZero() {
				b.element(memberName(v.Type().Field(i)), field)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			b.element("member", v.Index(i))
		}
	case reflect.Map:
		for _, key := range slices.SortedFunc(maps.Keys(v.Interface().(map[string]float64)), cmp.Compare[string]) {
			b.WriteString("<entry>")
			b.element("key", reflect.ValueOf(key))
			b.element("value", v.MapIndex(reflect.ValueOf(key)))
			b.WriteString("</entry>")
		}
	case reflect.Int64:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Float64:
		b.WriteString(strconv.FormatFloat(v.Float(), 'f', -1, 64))
	default:
		_ = xml.EscapeText(&b.Buffer, []byte(v.String())) // writing to memory does not fail
	}
}
