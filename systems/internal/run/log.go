package run

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"regexp"
)

// secrets matches what must never be logged: access tokens and e-mail addresses.
var secrets = regexp.MustCompile(`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_.-]+|[A-Za-z0-9._%+'-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+`)

// NewLogger returns a logger that masks secrets.
func NewLogger(w io.Writer, level, format string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level %q: want debug, info, warn or error", level)
	}
	options := &slog.HandlerOptions{Level: l}
	switch format {
	case "text":
		return slog.New(Mask(slog.NewTextHandler(w, options))), nil
	case "json":
		return slog.New(Mask(slog.NewJSONHandler(w, options))), nil
	default:
		return nil, fmt.Errorf("--log-format %q: want text or json", format)
	}
}

// Mask hides secrets in messages, texts and errors.
func Mask(h slog.Handler) slog.Handler { return masked{h} }

// masked is a handler that masks attributes.
type masked struct{ slog.Handler }

// Handle masks a record and passes it on.
func (m masked) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, maskText(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(maskAttr(a))
		return true
	})
	return m.Handler.Handle(ctx, out)
}

// WithAttrs keeps the mask.
func (m masked) WithAttrs(attrs []slog.Attr) slog.Handler {
	hidden := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		hidden[i] = maskAttr(a)
	}
	return masked{m.Handler.WithAttrs(hidden)}
}

// WithGroup keeps the mask.
func (m masked) WithGroup(name string) slog.Handler { return masked{m.Handler.WithGroup(name)} }

func maskAttr(a slog.Attr) slog.Attr {
	value := a.Value.Resolve()
	switch value.Kind() {
	case slog.KindString:
		return slog.String(a.Key, maskText(value.String()))
	case slog.KindGroup:
		var inside []any
		for _, member := range value.Group() {
			inside = append(inside, maskAttr(member))
		}
		return slog.Group(a.Key, inside...)
	case slog.KindAny:
		if value.Any() == nil {
			return a
		}
		// Errors, and values that format themselves.
		return slog.String(a.Key, maskText(fmt.Sprint(value.Any())))
	default:
		return a
	}
}

func maskText(text string) string { return secrets.ReplaceAllString(text, "[masked]") }
