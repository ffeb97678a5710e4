package transporteapp

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/seed"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

const (
	// sampleBlock is the number of records of a company: its profile and counters, drivers, vehicles, trips with the contents of
	// their cartas, trailers, and the agendas of everything that trips use.
	sampleBlock = 125
	// sampleFirst makes the first company the one whose token the demo's page shows.
	sampleFirst    = 123
	sampleTrips    = 10 // the last is not stamped, the last two are not completed, and one of these is on the road
	sampleUnits    = 5  // drivers, and vehicles
	sampleGoods    = 3
	sampleDistance = 500
	sampleCredits  = 50
	sampleHalfway  = 50
)

// sampleZone is the companies' time zone, which has had no daylight saving time since 2022.
var sampleZone = time.FixedZone("America/Mexico_City", -6*60*60)

// sample generates one part of the sample data.
func sample(p seed.Part) iter.Seq[table.Record] {
	return func(yield func(table.Record) bool) {
		for created := 0; created < p.Items; {
			m := sampleMaker{Chance: p.Chance, userID: fmt.Sprintf("u-%d", sampleFirst+(p.First+created)/sampleBlock)}
			for _, r := range m.company(min(sampleBlock, p.Items-created)) {
				created++
				if !yield(r) {
					return
				}
			}
		}
	}
}

// sampleMaker generates the records of a company.
type sampleMaker struct {
	seed.Chance
	userID   string
	list     []table.Record
	drivers  []db.Conductor
	vehicles []db.Vehiculo
	open     db.Viaje // the trip that has its resources but has not ended
}

// company generates up to n records of a company. An incomplete company has only a profile and trailers, which are not counted.
func (m *sampleMaker) company(n int) []table.Record {
	begun := time.Date(2024, time.January, 2, 14, 0, 0, 0, time.UTC)
	profile := m.profile(begun)
	if n == sampleBlock {
		m.fleet(begun)
		for i := range sampleTrips {
			m.trip(i, begun.Add(time.Duration(i+1)*24*time.Hour))
		}
		for i := range m.drivers {
			m.add(m.drivers[i].Record(), m.agenda(m.drivers[i].ConductorID, db.TipoRecursoConductor))
			m.add(m.vehicles[i].Record(), m.agenda(m.vehicles[i].VehiculoID, db.TipoRecursoVehiculo))
		}
		profile.NumConductores, profile.NumVehiculos = sampleUnits, sampleUnits
		profile.Credits = db.Creditos{Balance: sampleCredits - sampleTrips, Reserved: 1, TotalConsumed: sampleTrips - 1}
		m.add(db.Usage{UserID: m.userID, Mes: begun.Format("2006-01"), Cartas: sampleTrips}.Record(), db.FolioSeq{UserID: m.userID, N: sampleTrips}.Record())
	}
	m.add(profile.Record())
	if len(m.list) < n {
		m.add(db.Miembro{
			UserID: m.userID, MiembroID: m.userID, Nombre: profile.FullName, Rol: db.RolPropietario, CreatedAt: begun, UpdatedAt: begun,
		}.Record())
	}
	if n == sampleBlock {
		m.add(db.Miembro{
			UserID: m.userID, MiembroID: m.userID + "-despacho", Nombre: m.Name(), Rol: db.RolDespachador, CreatedAt: begun, UpdatedAt: begun,
		}.Record())
	}
	if (n-len(m.list))%2 == 1 { // one record is left over; a trailer also has an agenda
		m.add(db.Usage{UserID: m.userID, Mes: begun.Format("2006-01")}.Record())
	}
	for len(m.list) < n {
		r := db.Remolque{
			UserID: m.userID, RemolqueID: m.ULID(begun), Placa: m.plate(), SubTipoRem: "CTR007", Estado: db.EstadoRecursoDisponible,
			CreatedAt: begun, UpdatedAt: begun,
		}
		m.add(r.Record(), m.agenda(r.RemolqueID, db.TipoRecursoRemolque))
	}
	return m.list
}

func (m *sampleMaker) add(list ...table.Record) { m.list = append(m.list, list...) }

// agenda returns an agenda with the trip on the road, or an empty one.
func (m *sampleMaker) agenda(id string, kind db.TipoRecurso) table.Record {
	a := db.Agenda{UserID: m.userID, RecursoID: id, Tipo: kind, Periodos: map[string]db.Periodo{}}
	if slices.Contains(idsOf(m.open.Resources), id) {
		a.Periodos[m.open.ViajeID] = periodOf(&m.open)
		a.Abiertos, a.Revision = 1, 1
	}
	return a.Record()
}

func (m *sampleMaker) profile(at time.Time) db.User {
	plan := DefaultPlan()
	u := db.User{
		UserID: m.userID, Email: "flota@" + m.userID + ".example.com", FullName: "Transportes " + m.Name(), Timezone: "America/Mexico_City",
		Subscription: plan.subscription(at), Credits: db.Creditos{Balance: sampleCredits}, NumPropietarios: 1, CreatedAt: at, UpdatedAt: at,
		Config: &db.ConfigFiscal{RfcEmisor: "EKU9003173C9", RazonSocial: "ESCUELA KEMPER URGATE", RegimenFiscal: "601", DomicilioFiscal: sampleOrigin()},
	}
	u.Subscription.ExpiresAt = time.Date(2100, time.January, 1, 0, 0, 0, 0, time.UTC) // later than any use of the sample
	return u
}

func sampleOrigin() db.Domicilio {
	return db.Domicilio{CodigoPostal: "06600", Estado: "CMX", Calle: given("Reforma"), NumeroExterior: given("222")}
}

func sampleDestination() db.Domicilio { return db.Domicilio{CodigoPostal: "44100", Estado: "JAL"} }

func (m *sampleMaker) plate() string {
	letter := func() byte { return byte('A' + m.IntN(26)) }
	return fmt.Sprintf("%c%c%c-%03d", letter(), letter(), letter(), m.IntN(1000))
}

// fleet generates drivers and vehicles, once all trips have contributed to their statistics.
func (m *sampleMaker) fleet(at time.Time) {
	for range sampleUnits {
		m.drivers = append(m.drivers, db.Conductor{
			UserID: m.userID, ConductorID: m.ULID(at), Nombre: m.Name(), Rfc: "CACX7605101P8", Curp: "HEGG560427MVZRRL04",
			Estado: db.EstadoRecursoDisponible, Activo: true, CreatedAt: at, UpdatedAt: at,
			Licencia: db.Licencia{Tipo: "E", Numero: "ABC123456", Vigencia: table.DateOf(at.AddDate(20, 0, 0))},
			Vence:    table.DateOf(at.AddDate(20, 0, 0)),
		})
		m.vehicles = append(m.vehicles, db.Vehiculo{
			UserID: m.userID, VehiculoID: m.ULID(at), Placa: m.plate(), Estado: db.EstadoRecursoDisponible, ConfigVehicular: "C3", AnioModeloVM: 2022,
			PesoBrutoVehicular: table.DecimalOf(17), PermSct: "TPAF01", NumPermisoSct: "12345", AseguraRespCivil: "Seguros XYZ",
			PolizaRespCivil: "POL-123456", CreatedAt: at, UpdatedAt: at,
		})
	}
}

// trip generates a trip with its carta and contents.
func (m *sampleMaker) trip(i int, begins time.Time) {
	d, w := &m.drivers[i%sampleUnits], &m.vehicles[i%sampleUnits]
	v := db.Viaje{
		UserID: m.userID, ViajeID: m.ULID(begins), Nombre: "Viaje CDMX-GDL " + begins.Format(time.DateOnly), Estado: db.EstadoViajeCompletado,
		FechaInicioProgramada: begins, FechaFinProgramada: begins.Add(10 * time.Hour), Origen: "Ciudad de México", Destino: "Guadalajara",
		DistanciaTotal: table.DecimalOf(sampleDistance), CreatedAt: begins, UpdatedAt: begins,
		Resources: &db.Recursos{ConductorID: d.ConductorID, ConductorNombre: d.Nombre, VehiculoID: w.VehiculoID, VehiculoPlaca: w.Placa},
	}
	switch i {
	case sampleTrips - 1:
		v.Estado, v.Resources = db.EstadoViajeProgramado, nil
	case sampleTrips - 2:
		v.Estado, d.Estado, w.Estado = db.EstadoViajeEnCurso, db.EstadoRecursoEnViaje, db.EstadoRecursoEnViaje
		d.Asignacion.ViajeActualID, w.ViajeActualID = &v.ViajeID, &v.ViajeID
		m.open = v
		m.add(db.Tracking{
			UserID: m.userID, ViajeID: v.ViajeID, Activo: true, DistanciaRecorrida: table.DecimalOf(sampleDistance * sampleHalfway / whole),
			DistanciaTotal: v.DistanciaTotal, Progreso: sampleHalfway,
		}.Record())
	default:
		p := &d.Performance
		p.ViajesCompletados++
		driven, punctual := table.DecimalOf(p.ViajesCompletados*sampleDistance), table.DecimalOf(whole)
		p.KmTotales, w.KmTotales = driven, driven
		p.ViajesPuntuales, p.PuntualidadPromedio = p.ViajesCompletados, &punctual
		d.Asignacion.UbicacionActual = &v.Destino
	}
	c := m.carta(&v, i, d, w)
	v.Fiscal = &db.Fiscal{CartaPorteID: c.CartaID, CartaPorteFolio: c.Folio, CartaPorteStatus: c.Status}
	m.add(v.Record(), c.Record())
}

// carta generates a trip's carta. The last one is a draft; the others have a stamp made without a key.
func (m *sampleMaker) carta(v *db.Viaje, i int, d *db.Conductor, w *db.Vehiculo) db.Carta {
	c := db.Carta{
		UserID: m.userID, CartaID: m.ULID(v.CreatedAt), ViajeID: v.ViajeID, Folio: folio(int64(i) + 1), VersionCartaPorte: versionCarta,
		Status: db.EstadoCartaBorrador, IDCcp: "CCC" + m.UUID()[3:], NumUbicaciones: 2, NumFiguras: 1, DistanciaTotal: v.DistanciaTotal,
		NumeroTotalMercancias: sampleGoods, Revision: 4, CreatedAt: v.CreatedAt, UpdatedAt: v.CreatedAt,
		Emisor:   db.Emisor{Rfc: "EKU9003173C9", Nombre: "ESCUELA KEMPER URGATE", RegimenFiscal: "601", DomicilioFiscal: sampleOrigin()},
		Receptor: db.Receptor{Rfc: "IIA040805DZ4", Nombre: "INDISTRIA ILUMINADORA DE ALMACENES", RegimenFiscal: "601", UsoCfdi: "S01", DomicilioFiscal: sampleDestination()},
	}
	page := db.CartaCompletaResult{
		Autotransporte: []db.Autotransporte{{
			UserID: m.userID, CartaID: c.CartaID, PermSct: w.PermSct, NumPermisoSct: w.NumPermisoSct, ConfigVehicular: w.ConfigVehicular,
			PlacaVM: w.Placa, AnioModeloVM: w.AnioModeloVM, PesoBrutoVehicular: w.PesoBrutoVehicular, AseguraRespCivil: w.AseguraRespCivil,
			PolizaRespCivil: w.PolizaRespCivil,
		}},
		Figura: []db.Figura{{
			UserID: m.userID, CartaID: c.CartaID, Orden: 1, TipoFigura: "01", RfcFigura: d.Rfc, NombreFigura: d.Nombre, NumLicencia: &d.Licencia.Numero,
		}},
		Ubicacion: []db.Ubicacion{
			{
				UserID: m.userID, CartaID: c.CartaID, Orden: 1, Tipo: db.TipoUbicacionOrigen, IDUbicacion: "OR000001", RfcRemitenteDestinatario: c.Emisor.Rfc,
				FechaHoraSalidaLlegada: v.FechaInicioProgramada.In(sampleZone).Format(localTime), Domicilio: sampleOrigin(),
			},
			{
				UserID: m.userID, CartaID: c.CartaID, Orden: 2, Tipo: db.TipoUbicacionDestino, IDUbicacion: "DE000001", RfcRemitenteDestinatario: c.Receptor.Rfc,
				FechaHoraSalidaLlegada: v.FechaFinProgramada.In(sampleZone).Format(localTime), DistanciaRecorrida: &v.DistanciaTotal, Domicilio: sampleDestination(),
			},
		},
	}
	var weight int64
	for orden := range int64(sampleGoods) {
		kg := int64(m.IntN(5000)) + 1
		weight += kg
		page.Mercancia = append(page.Mercancia, db.Mercancia{
			UserID: m.userID, CartaID: c.CartaID, Orden: orden + 1, ClaveProdServ: "50161509", ClaveUnidad: "KGM", Descripcion: "Azúcar",
			Cantidad: table.DecimalOf(kg), PesoKg: table.DecimalOf(kg),
		})
	}
	c.PesoBrutoTotal = table.DecimalOf(weight)
	m.listed(&page)
	if i < sampleTrips-1 {
		m.stamp(&c, &page)
	}
	return c
}

// listed adds a carta's contents.
func (m *sampleMaker) listed(page *db.CartaCompletaResult) {
	m.add(page.Autotransporte[0].Record(), page.Figura[0].Record())
	for _, u := range page.Ubicacion {
		m.add(u.Record())
	}
	for _, g := range page.Mercancia {
		m.add(g.Record())
	}
}

// stamp adds a stamp and a document to a carta, without a seal.
func (m *sampleMaker) stamp(c *db.Carta, page *db.CartaCompletaResult) {
	c.Status, c.Sellada, c.SelladaAt = db.EstadoCartaTimbrada, true, &c.CreatedAt
	c.Timbrado = &db.Timbrado{
		UUIDFiscal: m.UUID(), FechaTimbrado: c.CreatedAt, RfcProvCertif: cartaporte.LocalRFC, NoCertificadoSAT: cartaporte.LocalSerial, Prueba: true,
	}
	d := declared(c)
	gather(d, page)
	d.Fecha = c.CreatedAt.Format(localTime)
	issued := d.Comprobante()
	issued.Muestra(c.Timbrado.UUIDFiscal, d.Fecha)
	document, _ := issued.XML() // it consists of strings
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(document) // into memory
	_ = w.Close()
	sum := sha256.Sum256(document)
	c.Timbrado.Sha256, c.Timbrado.Bytes = hex.EncodeToString(sum[:]), int64(len(document))
	m.add(db.XMLParte{UserID: m.userID, CartaID: c.CartaID, Contenido: packed.Bytes()}.Record())
}
