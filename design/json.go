package design

import (
	"bytes"
	"encoding/json"
)

// JSON returns the design in the versioned interchange form for plug-ins: indented, members in the order of the Go
// types, and equal for equal designs. Defaults are filled in.
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
