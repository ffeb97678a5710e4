package table

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a text that must not appear in logs, messages or JSON: all of these show [secret]. Reveal returns it.
type Secret string

const hiddenSecret = "[secret]"

// Reveal is the text.
func (s Secret) Reveal() string { return string(s) }

// String hides the text.
func (Secret) String() string { return hiddenSecret }

// GoString hides the text.
func (Secret) GoString() string { return hiddenSecret }

// Format hides the text, whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hiddenSecret) }

// LogValue hides the text.
func (Secret) LogValue() slog.Value { return slog.StringValue(hiddenSecret) }

// MarshalText hides the text, also in JSON.
func (Secret) MarshalText() ([]byte, error) { return []byte(hiddenSecret), nil }
