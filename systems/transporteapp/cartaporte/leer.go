package cartaporte

import (
	"bytes"
	"encoding/xml"
	"fmt"
)

// prefixes are the namespace prefixes in Comprobante's struct tags.
var prefixes = map[string]string{spaceCFDI: "cfdi:", spaceCarta: "cartaporte31:", spaceTFD: "tfd:"}

// Leer parses a stamped document.
func Leer(document []byte) (*Comprobante, error) {
	var c Comprobante
	if err := xml.NewTokenDecoder(prefixed{xml.NewDecoder(bytes.NewReader(document))}).Decode(&c); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	c.SpaceCFDI, c.SpaceCarta, c.SpaceXSI, c.SchemaLocation = spaceCFDI, spaceCarta, spaceXSI, schemas
	if t := c.Complemento.Timbre; t != nil {
		t.SpaceTFD, t.SchemaLocation = spaceTFD, schemaTFD
	}
	return &c, nil
}

// prefixed replaces namespaces with the prefixes in the struct tags: encoding/xml writes prefixes and reads namespaces.
type prefixed struct{ decoder *xml.Decoder }

// Token implements xml.TokenReader.
func (p prefixed) Token() (xml.Token, error) {
	token, err := p.decoder.Token()
	named := func(n xml.Name) xml.Name { return xml.Name{Local: prefixes[n.Space] + n.Local} }
	switch t := token.(type) {
	case xml.StartElement:
		t.Name = named(t.Name)
		kept := t.Attr[:0]
		for _, a := range t.Attr { // the types already declare the namespaces
			if a.Name.Space == "" {
				kept = append(kept, a)
			}
		}
		t.Attr = kept
		return t, err
	case xml.EndElement:
		t.Name = named(t.Name)
		return t, err
	default:
		return token, err
	}
}
