package design

import (
	"bytes"
	"encoding/json"
)

// JSON is the design in the versioned interchange form, which plug-ins read: indented, members in the order of the Go
// types, and equal for equal designs. What the text left to defaults is filled in.
func (d *Design) JSON() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
