package transporteapp

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/byname"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// Borrador holds the unsaved parts of a carta, which replace the stored ones.
type Borrador struct {
	Receptor       *Receptor       `json:"receptor,omitempty"`
	Autotransporte *Autotransporte `json:"autotransporte,omitempty"`
	Ubicaciones    *[]Ubicacion    `json:"ubicaciones,omitempty" maxItems:"50"`
	Figuras        *[]Figura       `json:"figuras,omitempty" maxItems:"20"`
	Mercancias     *[]Mercancia    `json:"mercancias,omitempty" maxItems:"1000"`
}

// Revisado is the result of a check.
type Revisado struct {
	Faltas []Falta `json:"faltas" nullable:"false" doc:"The first 50 faults"`
	Numero int     `json:"numero" doc:"The number of faults"`
}

// Falta is a fault for which the tax office would reject the document.
type Falta struct {
	Campo   string `json:"campo" doc:"Where: mercancias[2].claveUnidad"`
	Mensaje string `json:"mensaje" doc:"What is wrong, in the caller's language"`
}

type draftOfCarta struct {
	CartaPath
	Body Borrador
}

var (
	autotransporteStored = byname.Copy2[listed, Autotransporte, db.Autotransporte]()
	ubicacionStored      = byname.Copy2[listed, Ubicacion, db.Ubicacion]()
	figuraStored         = byname.Copy2[listed, Figura, db.Figura]()
	mercanciaStored      = byname.Copy2[listed, Mercancia, db.Mercancia]()
)

// listed has a carta's contents.
type listed struct{ UserID, CartaID string }

// unchecked skips the validation of the body, because incomplete input is expected.
func unchecked(op *huma.Operation) { op.SkipValidateBody = true }

// review returns what the tax office would reject in a carta with unsaved input. It changes nothing.
func (s *service) review(ctx context.Context, who auth.Principal, in draftOfCarta) (Revisado, error) {
	var d *cartaporte.Documento
	err := s.withCarta(ctx, who.Sub, in.CartaID, func(c db.Carta) (err error) {
		if c.Status == db.EstadoCartaBorrador && !c.Sellada {
			if err := s.reissue(ctx, &c); err != nil {
				return err
			}
		}
		b := &in.Body
		if b.Autotransporte != nil && b.Ubicaciones != nil && b.Figuras != nil && b.Mercancias != nil {
			d = declared(&c) // the request has all parts
		} else if d, err = s.document(ctx, &c); err != nil {
			return err
		}
		b.into(d)
		return nil
	})
	if err != nil {
		return Revisado{}, err
	}
	faults := d.Validar()
	list := each(faults[:min(len(faults), mostFaults)], func(f cartaporte.Falta) problem.Field { return problem.Field{Field: f.Campo, Message: f.Mensaje} })
	said := api.Complete(ctx, problem.New(http.StatusConflict, "carta_incompleta", "", list...)).Errors
	return Revisado{Numero: len(faults), Faltas: each(said, func(f problem.Field) Falta { return Falta{f.Field, f.Message} })}, nil
}

// into replaces stored parts with unsaved ones and recomputes the totals. A total that has too many digits is 0: then a distance or
// a weight is a fault, too.
func (b *Borrador) into(d *cartaporte.Documento) {
	var (
		page db.CartaCompletaResult
		none listed // not stored
	)
	if b.Receptor != nil {
		c := db.Carta{Receptor: receptorStored(*b.Receptor)}
		d.Receptor = declared(&c).Receptor
	}
	if b.Autotransporte != nil {
		page.Autotransporte = []db.Autotransporte{autotransporteStored(none, *b.Autotransporte)}
	}
	if b.Figuras != nil {
		d.Figuras, page.Figura = nil, each(*b.Figuras, func(f Figura) db.Figura { return figuraStored(none, f) })
	}
	if b.Ubicaciones != nil {
		d.Ubicaciones, page.Ubicacion = nil, each(*b.Ubicaciones, func(u Ubicacion) db.Ubicacion { return ubicacionStored(none, u) })
		var ways []table.Decimal
		for _, u := range *b.Ubicaciones {
			if u.DistanciaRecorrida != nil {
				ways = append(ways, u.DistanciaRecorrida.Decimal)
			}
		}
		d.TotalDistancia, _ = sum(ways...)
	}
	if b.Mercancias != nil {
		d.Mercancias, page.Mercancia = nil, each(*b.Mercancias, func(m Mercancia) db.Mercancia {
			m.Moneda = m.currency()
			return mercanciaStored(none, m)
		})
		d.PesoBrutoTotal, _ = sum(each(*b.Mercancias, func(m Mercancia) table.Decimal { return m.PesoKg.Decimal })...)
	}
	gather(d, &page)
}

// Clave is a line of a catalogue.
type Clave struct {
	Clave       string `json:"clave"`
	Descripcion string `json:"descripcion"`
}

// Claves are search results.
type Claves struct {
	Items []Clave `json:"items" nullable:"false"`
}

type catalogQuery struct {
	Nombre cartaporte.Catalogo `path:"nombre" enum:"regimen_fiscal,uso_cfdi,tipo_permiso,config_autotransporte,sub_tipo_rem,figura_transporte,clave_unidad,motivo_cancelacion,segmento_prod_serv,estado" doc:"The catalogue"`
	Q      string              `query:"q" maxLength:"100" doc:"A prefix of the key, or words of the description"`
	Limit  int                 `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"The maximum number"`
}

// catalog searches one of the tax office's catalogues.
func (s *service) catalog(_ context.Context, _ auth.Principal, in catalogQuery) (Claves, error) {
	return Claves{each(in.Nombre.Buscar(in.Q, in.Limit), func(l cartaporte.Linea) Clave { return Clave(l) })}, nil
}
