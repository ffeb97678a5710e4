package transporteapp

import (
	"math/big"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/design/table"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// Decimal is a number of JSON that keeps all its digits.
type Decimal struct{ table.Decimal }

// Schema makes Decimal a number in the API's document.
func (Decimal) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeNumber} }

func optional(d *table.Decimal) *Decimal {
	if d == nil {
		return nil
	}
	return &Decimal{*d}
}

func plain(d *Decimal) *table.Decimal {
	if d == nil {
		return nil
	}
	return &d.Decimal
}

// sum adds numbers.
func sum(list ...table.Decimal) (table.Decimal, error) {
	total, most := new(big.Rat), 0
	for _, d := range list {
		n, ok := new(big.Rat).SetString(d.String())
		if !ok {
			continue // a Decimal is a number
		}
		places, _ := n.FloatPrec()
		most = max(most, places)
		total.Add(total, n)
	}
	return table.ParseDecimal(total.FloatString(most))
}

// difference is one number less another, which is not negative.
func difference(of, less table.Decimal) (table.Decimal, error) {
	negative, err := table.ParseDecimal("-" + less.String())
	if err != nil {
		return table.Decimal{}, err
	}
	return sum(of, negative)
}

// text is what an optional text says, "" where there is none.
func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// given is a text as an optional one: "" is none.
func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Domicilio is an address with the keys of the SAT's catalogues.
type Domicilio struct {
	CodigoPostal   string `json:"codigoPostal" pattern:"^[0-9]{5}$" patternDescription:"five digits" doc:"Of the state"`
	Estado         string `json:"estado" pattern:"^[A-Z]{3}$" patternDescription:"a key of c_Estado" doc:"Key of c_Estado"`
	Pais           string `json:"pais,omitempty" enum:"MEX" doc:"MEX"`
	Municipio      string `json:"municipio,omitempty" maxLength:"120" doc:"Key of c_Municipio"`
	Localidad      string `json:"localidad,omitempty" maxLength:"120" doc:"Key of c_Localidad"`
	Colonia        string `json:"colonia,omitempty" maxLength:"120" doc:"Key of c_Colonia"`
	Calle          string `json:"calle,omitempty" maxLength:"100"`
	NumeroExterior string `json:"numeroExterior,omitempty" maxLength:"55"`
	NumeroInterior string `json:"numeroInterior,omitempty" maxLength:"55"`
	Referencia     string `json:"referencia,omitempty" maxLength:"250"`
}

func domicilioOf(d db.Domicilio) Domicilio {
	return Domicilio{
		CodigoPostal: d.CodigoPostal, Estado: d.Estado, Pais: text(d.Pais), Municipio: text(d.Municipio), Localidad: text(d.Localidad),
		Colonia: text(d.Colonia), Calle: text(d.Calle), NumeroExterior: text(d.NumeroExterior), NumeroInterior: text(d.NumeroInterior),
		Referencia: text(d.Referencia),
	}
}

func (d Domicilio) stored() db.Domicilio {
	return db.Domicilio{
		CodigoPostal: d.CodigoPostal, Estado: d.Estado, Pais: given(d.Pais), Municipio: given(d.Municipio), Localidad: given(d.Localidad),
		Colonia: given(d.Colonia), Calle: given(d.Calle), NumeroExterior: given(d.NumeroExterior), NumeroInterior: given(d.NumeroInterior),
		Referencia: given(d.Referencia),
	}
}

// Coordenadas are a place on the earth.
type Coordenadas struct {
	Lat Decimal `json:"lat" minimum:"-90" maximum:"90" doc:"Latitude in degrees"`
	Lng Decimal `json:"lng" minimum:"-180" maximum:"180" doc:"Longitude in degrees"`
}

func coordenadasOf(c *db.Coordenadas) *Coordenadas {
	if c == nil {
		return nil
	}
	return &Coordenadas{Lat: Decimal{c.Lat}, Lng: Decimal{c.Lng}}
}

func (c *Coordenadas) stored() *db.Coordenadas {
	if c == nil {
		return nil
	}
	return &db.Coordenadas{Lat: c.Lat.Decimal, Lng: c.Lng.Decimal}
}
