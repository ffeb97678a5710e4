package transporteapp

import (
	"context"
	"fmt"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// batch is the maximum number of goods in a transaction: DynamoDB's limit is 100 items, and the carta and the idempotency record
// take two.
const batch = 90

// carta returns a company's carta.
func (s *service) carta(ctx context.Context, userID, id string) (db.Carta, error) {
	return s.db.CartaPorID(ctx, db.CartaPorIDInput{UserID: userID, CartaID: id})
}

// withCarta calls do with the current state of a carta, and retries if the carta has changed in the meantime.
func (s *service) withCarta(ctx context.Context, userID, id string, do func(db.Carta) error, when ...error) error {
	return again(ctx, func() error {
		c, err := s.carta(ctx, userID, id)
		if err != nil {
			return err
		}
		return do(c)
	}, append(when, db.ErrCartaCambio)...)
}

// withVersion is withCarta for a caller who may have read a version of the carta, which must still be current.
func (s *service) withVersion(ctx context.Context, userID, id string, seen *api.Seen, do func(db.Carta) error) error {
	return s.withCarta(ctx, userID, id, func(c db.Carta) error {
		if !seen.Has(versionOf(c.Revision)) {
			return problem.Changed()
		}
		return do(c)
	})
}

// head returns the header of a carta.
func (s *service) head(ctx context.Context, userID, id string) (Carta, error) {
	c, err := s.carta(ctx, userID, id)
	return cartaOf(&c), err
}

// byFolio returns the header of a carta by its folio.
func (s *service) byFolio(ctx context.Context, who auth.Principal, in folioPath) (Carta, error) {
	c, err := s.db.CartaPorFolio(ctx, db.CartaPorFolioInput{UserID: who.Sub, Folio: in.Folio})
	return cartaOf(&c), err
}

// declareVehicle sets a draft's vehicle.
func (s *service) declareVehicle(ctx context.Context, who auth.Principal, declared declaredVehicle) (Autotransporte, error) {
	in := declared.Body
	var bad fields
	bad.addIf(!cartaporte.TipoPermiso.Tiene(in.PermSct), "body.permSct", "is not a permit of c_TipoPermiso")
	bad.addIf(!cartaporte.ConfigAutotransporte.Tiene(in.ConfigVehicular), "body.configVehicular", "is not a key of c_ConfigAutotransporte")
	bad.addIf(in.PlacaRemolque != "" && !cartaporte.SubTipoRem.Tiene(in.SubTipoRem), "body.subTipoRem", "is not a key of c_SubTipoRem")
	if err := bad.problem(); err != nil {
		return Autotransporte{}, err
	}
	err := s.withVersion(ctx, who.Sub, declared.CartaID, &declared.Seen, func(c db.Carta) error {
		in.Revision = c.Revision + 1
		return errorOf(s.db.GuardarAutotransporte(ctx, guardarAutotransporte(revised{who.Sub, c.Revision}, declared)))
	})
	return in, err
}

// declarePlaces replaces a draft's places.
func (s *service) declarePlaces(ctx context.Context, who auth.Principal, declared declaredPlaces) (Ubicaciones, error) {
	userID, id, in := who.Sub, declared.CartaID, declared.Body.Ubicaciones
	var bad fields
	var ways []table.Decimal
	for i := range in {
		in[i].Orden = int64(i) + 1
		u, field := &in[i], fmt.Sprintf("body.ubicaciones[%d]", i)
		_, err := cartaporte.RFC(u.RfcRemitenteDestinatario)
		bad.addIf(err != nil, field+".rfcRemitenteDestinatario", "is not an RFC")
		bad.domicilio(field+".domicilio", u.Domicilio)
		bad.addIf((u.Tipo == db.TipoUbicacionDestino) != (u.DistanciaRecorrida != nil), field+".distanciaRecorrida", "is required for each Destino and not allowed elsewhere")
		if u.DistanciaRecorrida != nil {
			ways = append(ways, u.DistanciaRecorrida.Decimal)
		}
	}
	total, err := sum(ways...)
	bad.addIf(err != nil, "body.ubicaciones", "have distances with so many digits that their sum cannot be stored")
	if err := bad.problem(); err != nil {
		return Ubicaciones{}, err
	}
	n := int64(len(in))
	out := Ubicaciones{Ubicaciones: in}
	err = s.withVersion(ctx, userID, id, &declared.Seen, func(c db.Carta) error {
		if c.NumUbicaciones > n { // delete all of them first: distanciaTotal would not be the sum of a part
			if _, err := s.db.QuitarUbicaciones(ctx, db.QuitarUbicacionesInput{
				UserID: userID, CartaID: id, Revision: c.Revision, Lines: behind(0, c.NumUbicaciones, func(orden int64) db.QuitarUbicacionesLine {
					return db.QuitarUbicacionesLine{Orden: orden}
				}),
			}); err != nil {
				return err
			}
			declared.Rewritten()
			c.Revision++
		}
		out.Revision = c.Revision + 1
		return errorOf(s.db.GuardarUbicaciones(ctx, db.GuardarUbicacionesInput{
			UserID: userID, CartaID: id, Numero: n, Distancia: total, Revision: c.Revision,
			Lines: each(in, ubicacionLine),
		}))
	})
	return out, err
}

// behind returns lines for the items n+1 to last, which are left over.
func behind[T any](n, last int64, line func(int64) T) []T {
	var out []T
	for orden := n + 1; orden <= last; orden++ {
		out = append(out, line(orden))
	}
	return out
}

// declarePeople replaces a draft's people.
func (s *service) declarePeople(ctx context.Context, who auth.Principal, declared declaredPeople) (Figuras, error) {
	userID, id, in := who.Sub, declared.CartaID, declared.Body.Figuras
	var bad fields
	for i := range in {
		in[i].Orden = int64(i) + 1
		field := fmt.Sprintf("body.figuras[%d]", i)
		_, err := cartaporte.RFC(in[i].RfcFigura)
		bad.addIf(err != nil, field+".rfcFigura", "is not an RFC")
		bad.addIf(!cartaporte.FiguraTransporte.Tiene(in[i].TipoFigura), field+".tipoFigura", "is not a key of c_FiguraTransporte")
	}
	if err := bad.problem(); err != nil {
		return Figuras{}, err
	}
	n := int64(len(in))
	out := Figuras{Figuras: in}
	err := s.withVersion(ctx, userID, id, &declared.Seen, func(c db.Carta) error {
		if c.NumFiguras > n {
			if _, err := s.db.QuitarFiguras(ctx, db.QuitarFigurasInput{
				UserID: userID, CartaID: id, Numero: n, Revision: c.Revision, Lines: behind(n, c.NumFiguras, func(orden int64) db.QuitarFigurasLine {
					return db.QuitarFigurasLine{Orden: orden}
				}),
			}); err != nil {
				return err
			}
			declared.Rewritten()
			c.Revision++
		}
		out.Revision = c.Revision + 1
		return errorOf(s.db.GuardarFiguras(ctx, db.GuardarFigurasInput{
			UserID: userID, CartaID: id, Numero: n, Revision: c.Revision,
			Lines: each(in, figuraLine),
		}))
	})
	return out, err
}

// addGoods adds goods to a draft, one transaction per batch, each with its own idempotency record. A repeated request continues
// where the first one stopped.
func (s *service) addGoods(ctx context.Context, who auth.Principal, added addedGoods) (Agregado, bool, error) {
	in := added.Body.Mercancias
	var bad fields
	for i := range in {
		for _, f := range cartaporte.ValidarMercancia(fmt.Sprintf("body.mercancias[%d]", i), in[i].declared()) {
			bad.add(f.Campo, f.Mensaje)
		}
	}
	if err := bad.problem(); err != nil {
		return Agregado{}, false, err
	}
	// Each part has the fingerprint of the whole request, so a key that is reused with other goods is detected, wherever the
	// first request stopped.
	all := newRequest(who.Sub, added.RequestKey, "addMercancias "+added.CartaID, in)
	var done Agregado
	replayed := true
	for first := 0; first < len(in); first += batch {
		part := in[first:min(first+batch, len(in))]
		r := all
		if first > 0 {
			r.RequestKey = partKey(added.RequestKey, first/batch)
		}
		response, known, err := s.addBatch(ctx, added.CartaID, r, part)
		if err != nil {
			return Agregado{}, false, err
		}
		done, replayed = response, replayed && known
	}
	return done, replayed, nil
}

func (s *service) addBatch(ctx context.Context, id string, r request, in []Mercancia) (Agregado, bool, error) {
	return keyed(ctx, s, r, func() (response Agregado, err error) {
		err = s.inTurn(ctx, id, func() error {
			c, err := s.carta(ctx, r.UserID, id)
			if err != nil {
				return err
			}
			weight, err := sum(append(each(in, func(m Mercancia) table.Decimal { return m.PesoKg.Decimal }), c.PesoBrutoTotal)...)
			if err != nil {
				return err
			}
			seen := c.NumeroTotalMercancias
			response = Agregado{NumeroTotalMercancias: seen + int64(len(in)), PesoBrutoTotal: Decimal{weight}}
			orden := seen
			r := r.withResponse(response)
			done, err := s.db.AgregarMercancias(ctx, db.AgregarMercanciasInput{
				RequestKey: r.RequestKey, Operacion: r.Operacion, Huella: r.Huella, Respuesta: r.Respuesta,
				UserID: r.UserID, CartaID: id, Visto: seen,
				Lines: each(in, func(m Mercancia) db.AgregarMercanciasLine {
					orden++
					m.Orden, m.Moneda = orden, m.currency()
					return mercanciaLine(m)
				}),
			})
			return overtaken(done.Replayed, err)
		}, db.ErrCartaCambio, db.ErrMercanciaExists)
		return response, err
	})
}

// copyGoods adds the goods of a carta to the one that a request has created to replace it, one transaction per batch, each with its own
// idempotency record: a repeated request continues where the first one stopped. It returns the revision of the new carta.
func (s *service) copyGoods(ctx context.Context, userID, key, from, to string) (revision int64, err error) {
	var part []Mercancia
	r := newRequest(userID, key, "copyMercancias "+to, from)
	add := func() error {
		revision++
		r.RequestKey = partKey(key, int(revision))
		_, _, err := s.addBatch(ctx, to, r, part)
		part = nil
		return err
	}
	for m, err := range s.db.MercanciasDeCartaAll(ctx, db.MercanciasDeCartaInput{UserID: userID, CartaID: from}) {
		if err != nil {
			return 0, err
		}
		if part = append(part, mercanciaOf(m)); len(part) == batch {
			if err := add(); err != nil {
				return 0, err
			}
		}
	}
	if len(part) > 0 {
		err = add()
	}
	return revision, err
}

// contents returns a page of a carta's contents. It is empty for an unknown carta or another company's. Without goods there is one
// page: the places follow the goods, so they are read by themselves.
func (s *service) contents(ctx context.Context, who auth.Principal, in contentsQuery) (Contenido, error) {
	page := in.Options()
	if page.After == "" {
		if _, err := s.carta(ctx, who.Sub, in.CartaID); err != nil {
			return Contenido{}, err
		}
	}
	if in.SinMercancias {
		page = table.PageOptions{Limit: 1 + maxPeople} // the vehicle and the people come first
	}
	found, err := s.db.CartaCompleta(ctx, db.CartaCompletaInput{UserID: who.Sub, CartaID: in.CartaID}, page)
	if in.SinMercancias && err == nil {
		found.Mercancia, found.Next = nil, ""
		found.Ubicacion, err = s.places(ctx, who.Sub, in.CartaID)
	}
	out := contenidoOf(found)
	for _, a := range found.Autotransporte {
		out.Autotransporte = new(autotransporteOf(a))
	}
	return out, err
}

// places returns all of a carta's places, in order.
func (s *service) places(ctx context.Context, userID, id string) ([]db.Ubicacion, error) {
	page, err := s.db.UbicacionesDeCarta(ctx, db.UbicacionesDeCartaInput{UserID: userID, CartaID: id}, table.PageOptions{Limit: maxPlaces})
	return page.Items, err
}

// goods returns a page of a carta's goods.
func (s *service) goods(ctx context.Context, who auth.Principal, in cartaPage) (table.Page[db.Mercancia], error) {
	page, err := s.db.MercanciasDeCarta(ctx, db.MercanciasDeCartaInput{UserID: who.Sub, CartaID: in.CartaID}, in.Options())
	if err == nil && len(page.Items) == 0 {
		_, err = s.carta(ctx, who.Sub, in.CartaID)
	}
	return page, err
}

// declared converts a carta's header to a fiscal document.
func declared(c *db.Carta) *cartaporte.Documento {
	d := &cartaporte.Documento{
		Folio: c.Folio, IDCCP: c.IDCcp, TotalDistancia: c.DistanciaTotal, PesoBrutoTotal: c.PesoBrutoTotal,
		Emisor: cartaporte.Contribuyente{
			RFC: c.Emisor.Rfc, Nombre: c.Emisor.Nombre, RegimenFiscal: c.Emisor.RegimenFiscal, Domicilio: declaredAddress(c.Emisor.DomicilioFiscal),
		},
		Receptor: cartaporte.Contribuyente{
			RFC: c.Receptor.Rfc, Nombre: c.Receptor.Nombre, RegimenFiscal: c.Receptor.RegimenFiscal, UsoCFDI: c.Receptor.UsoCfdi,
			Domicilio: declaredAddress(c.Receptor.DomicilioFiscal),
		},
	}
	if c.Sustituye != nil {
		d.Sustituye = c.Sustituye.UUIDFiscal
	}
	return d
}

// document reads a whole carta as a fiscal document.
func (s *service) document(ctx context.Context, c *db.Carta) (*cartaporte.Documento, error) {
	d := declared(c)
	for after := table.Cursor(""); ; {
		page, err := s.db.CartaCompleta(ctx, db.CartaCompletaInput{UserID: c.UserID, CartaID: c.CartaID}, table.PageOptions{After: after, Limit: table.MaxPage})
		if err != nil {
			return nil, err
		}
		gather(d, &page)
		if after = page.Next; after == "" {
			break
		}
	}
	for _, part := range []struct {
		what          string
		counts, lists int64
	}{
		{"goods", c.NumeroTotalMercancias, int64(len(d.Mercancias))},
		{"places", c.NumUbicaciones, int64(len(d.Ubicaciones))},
		{"people", c.NumFiguras, int64(len(d.Figuras))},
	} {
		if part.counts != part.lists { // it changed during the read
			return nil, fmt.Errorf("the carta counts %d %s and lists %d: %w", part.counts, part.what, part.lists, db.ErrCartaCambio)
		}
	}
	return d, nil
}

// gather adds a page of a carta's contents to a document.
func gather(d *cartaporte.Documento, page *db.CartaCompletaResult) {
	for _, a := range page.Autotransporte {
		d.Autotransporte = &cartaporte.Autotransporte{
			PermSCT: a.PermSct, NumPermisoSCT: a.NumPermisoSct, ConfigVehicular: a.ConfigVehicular, PlacaVM: a.PlacaVM, AnioModeloVM: a.AnioModeloVM,
			PesoBrutoVehicular: a.PesoBrutoVehicular, AseguraRespCivil: a.AseguraRespCivil, PolizaRespCivil: a.PolizaRespCivil,
			SubTipoRemolque: text(a.SubTipoRem), PlacaRemolque: text(a.PlacaRemolque),
		}
	}
	for _, f := range page.Figura {
		d.Figuras = append(d.Figuras, cartaporte.Figura{Tipo: f.TipoFigura, RFC: f.RfcFigura, Nombre: f.NombreFigura, NumLicencia: text(f.NumLicencia)})
	}
	for _, m := range page.Mercancia {
		d.Mercancias = append(d.Mercancias, cartaporte.Mercancia{
			ClaveProdServ: m.ClaveProdServ, ClaveUnidad: m.ClaveUnidad, Descripcion: m.Descripcion, Cantidad: m.Cantidad, PesoKg: m.PesoKg,
			Valor: m.ValorMercancia, Moneda: text(m.Moneda),
		})
	}
	for _, u := range page.Ubicacion {
		d.Ubicaciones = append(d.Ubicaciones, cartaporte.Ubicacion{
			Tipo: string(u.Tipo), ID: u.IDUbicacion, RFC: u.RfcRemitenteDestinatario, Nombre: text(u.NombreRemitenteDestinatario),
			FechaHora: u.FechaHoraSalidaLlegada, Distancia: u.DistanciaRecorrida, Domicilio: declaredAddress(u.Domicilio),
		})
	}
}

func declaredAddress(d db.Domicilio) cartaporte.Domicilio {
	return cartaporte.Domicilio{
		Calle: text(d.Calle), NumeroExterior: text(d.NumeroExterior), NumeroInterior: text(d.NumeroInterior), Colonia: text(d.Colonia),
		Localidad: text(d.Localidad), Referencia: text(d.Referencia), Municipio: text(d.Municipio), Estado: d.Estado, Pais: text(d.Pais),
		CodigoPostal: d.CodigoPostal,
	}
}
