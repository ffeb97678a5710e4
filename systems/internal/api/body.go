package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	json2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/monotable/monotable/systems/internal/problem"
)

// formats are the encodings of bodies.
func formats() map[string]huma.Format {
	strict := huma.Format{Marshal: writeJSON, Unmarshal: readJSON}
	return map[string]huma.Format{"application/json": strict, "json": strict}
}

// written encodes JSON with times in UTC and always three decimals, as the systems' documents require. (encoding/json drops
// trailing zeros, so the strings of equal times can differ and do not sort.)
var written = json2.JoinOptions(
	jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false),
	json2.WithMarshalers(json2.MarshalToFunc(func(e *jsontext.Encoder, t time.Time) error {
		return e.WriteToken(jsontext.String(t.UTC().Format("2006-01-02T15:04:05.000Z")))
	})),
)

// MarshalJSON encodes a value as responses and events contain it.
func MarshalJSON(v any) ([]byte, error) { return json2.Marshal(v, written) }

func writeJSON(w io.Writer, v any) error {
	text, err := MarshalJSON(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// readJSON decodes JSON that has only one interpretation. huma decodes a body twice: first into any, which it validates, and then
// into the handler's type. In the second step Go merges a repeated object into the first one, so duplicate members are rejected
// beforehand.
func readJSON(data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return unreadable(err)
	}
	if _, first := v.(*any); !first {
		return nil
	}
	if !utf8.Valid(data) {
		return errors.New("is not valid UTF-8")
	}
	if name, twice := repeated(data); twice {
		return fmt.Errorf("has the duplicate member %s in one object", shortened(name))
	}
	return nil
}

// level is an open object or list.
type level struct {
	names map[string]bool // of the object's members so far; nil in a list
	named bool            // the next token is a member's value
}

// repeated finds a duplicate member name in valid JSON.
func repeated(data []byte) (name string, twice bool) {
	tokens := json.NewDecoder(bytes.NewReader(data))
	tokens.UseNumber()
	open := []level{{}}
	for {
		token, err := tokens.Token()
		if err != nil { // the end
			return "", false
		}
		in := &open[len(open)-1]
		if text, ok := token.(string); ok && in.names != nil && !in.named {
			if in.names[text] {
				return text, true
			}
			in.names[text], in.named = true, true
			continue
		}
		in.named = false
		switch token {
		case json.Delim('{'):
			open = append(open, level{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
	}
}

// quoted matches a quoted value in an error text.
var quoted = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"")

// unreadable says why a body cannot be decoded, without Go type names and without values, which may be secret.
func unreadable(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("is not valid JSON: %w, byte %d", syntax, syntax.Offset)
	}
	if other, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		var what string
		switch other.Type.Kind() {
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
			reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			what = "a whole number without exponent, and in range"
		case reflect.Float32, reflect.Float64:
			what = "a number in range"
		default:
			what = "another type"
		}
		return fmt.Errorf("%s: want %s", shortened(cmp.Or(other.Field, "a value")), what)
	}
	if _, ok := errors.AsType[*time.ParseError](err); ok {
		return errors.New("a time is not in RFC 3339 format")
	}
	return errors.New(quoted.ReplaceAllString(err.Error(), "a value"))
}

// preread rejects a request because of its headers, before reading its body.
func (a *API) preread(ctx huma.Context, next func(huma.Context)) {
	op := ctx.Operation()
	r, _ := humago.Unwrap(ctx)
	if len(r.Header.Values(idempotencyHeader)) > 1 {
		a.fail(ctx, problem.BadRequest(problem.CodeInvalidParameter, "a parameter is invalid",
			problem.Field{Field: "header." + idempotencyHeader, Message: "appears twice"}))
		return
	}
	if op.RequestBody == nil {
		next(ctx)
		return
	}
	// Media types are case-insensitive and may be followed by spaces, but huma compares them exactly.
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); kind != "" {
		r.Header.Set("Content-Type", strings.ToLower(strings.TrimSpace(kind)))
	}
	if encoding := ctx.Header("Content-Encoding"); encoding != "" && encoding != "identity" {
		ctx.SetHeader("Accept-Encoding", "identity")
		a.fail(ctx, problem.New(http.StatusUnsupportedMediaType, "", "send the body uncompressed: Content-Encoding is not supported"))
		return
	}
	if op.MaxBodyBytes > 0 && r.ContentLength > op.MaxBodyBytes {
		a.fail(ctx, problem.New(http.StatusRequestEntityTooLarge, "", fmt.Sprintf("the body is larger than the maximum of %d bytes", op.MaxBodyBytes)))
		return
	}
	next(ctx)
}
