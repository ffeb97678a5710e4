package transporteapp

import (
	"time"

	"github.com/monotable/monotable/design/table"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// Request and response types, except for cartas. Fields are copied from and to the stored fields of the same name (copies.go), so
// a response type lists everything that is returned.

// Limites are a plan's limits.
type Limites struct {
	Conductores    int64 `json:"conductores" minimum:"0" maximum:"500" doc:"Drivers"`
	Vehiculos      int64 `json:"vehiculos" minimum:"0" maximum:"500" doc:"Vehicles"`
	CartasPorteMes int64 `json:"cartasPorteMes" minimum:"0" maximum:"1000000" doc:"Cartas a month"`
}

// Suscripcion is a company's subscription.
type Suscripcion struct {
	PlanID    string               `json:"planId" minLength:"1" maxLength:"100"`
	PlanName  string               `json:"planName" minLength:"1" maxLength:"100"`
	Status    db.EstadoSuscripcion `json:"status" enum:"active,suspended,cancelled"`
	ExpiresAt time.Time            `json:"expiresAt" doc:"The end of the paid period"`
	Limits    Limites              `json:"limits"`
}

// Creditos pay for stamps.
type Creditos struct {
	Balance       int64 `json:"balance" doc:"The available ones"`
	Reserved      int64 `json:"reserved" doc:"Credits of drafts"`
	MonthlyUsed   int64 `json:"monthlyUsed" from:"-" doc:"Cartas of this month"`
	TotalConsumed int64 `json:"totalConsumed" doc:"Credits of stamped cartas"`
}

// ConfigFiscal are a company's tax details.
type ConfigFiscal struct {
	RfcEmisor       string    `json:"rfcEmisor" maxLength:"13" doc:"The company's RFC"`
	RazonSocial     string    `json:"razonSocial" minLength:"1" maxLength:"254" doc:"Its name as registered with the SAT"`
	RegimenFiscal   string    `json:"regimenFiscal" pattern:"^[0-9]{3}$" patternDescription:"a key of c_RegimenFiscal" doc:"Key of c_RegimenFiscal"`
	DomicilioFiscal Domicilio `json:"domicilioFiscal"`
}

// Perfil is a company.
type Perfil struct {
	UserID         string        `json:"userId" doc:"The sub of your access token"`
	Email          string        `json:"email"`
	FullName       string        `json:"fullName"`
	AvatarURL      string        `json:"avatarUrl,omitempty"`
	Timezone       string        `json:"timezone" doc:"Its time zone"`
	Subscription   Suscripcion   `json:"subscription"`
	Credits        Creditos      `json:"credits"`
	Config         *ConfigFiscal `json:"config,omitempty" doc:"Its tax details"`
	NumConductores int64         `json:"numConductores" doc:"The number of drivers"`
	NumVehiculos   int64         `json:"numVehiculos" doc:"The number of vehicles"`
	CreatedAt      time.Time     `json:"createdAt"`
	UpdatedAt      time.Time     `json:"updatedAt"`
}

// Version implements api.Versioned.
func (p Perfil) Version() time.Time { return p.UpdatedAt }

// NuevoPerfil is a company's profile as input.
type NuevoPerfil struct {
	Email     string        `json:"email" format:"email" maxLength:"254" doc:"Your e-mail address"`
	FullName  string        `json:"fullName" minLength:"1" maxLength:"200" doc:"Your name"`
	AvatarURL string        `json:"avatarUrl,omitempty" format:"uri" maxLength:"500"`
	Timezone  string        `json:"timezone" minLength:"1" maxLength:"60" doc:"Your time zone, such as America/Mexico_City"`
	Config    *ConfigFiscal `json:"config,omitempty" doc:"Your tax details; required for cartas"`
}

// Abono is a purchase of credits.
type Abono struct {
	UserID   string `json:"userId"`
	Creditos int64  `json:"creditos" doc:"The number of credits bought"`
	Balance  int64  `json:"balance" doc:"The balance at that time"`
}

// Licencia is a driver's licence.
type Licencia struct {
	Tipo     string `json:"tipo" minLength:"1" maxLength:"10" doc:"Its class, as E"`
	Numero   string `json:"numero" minLength:"6" maxLength:"16"`
	Vigencia string `json:"vigencia" format:"date" doc:"The last day on which it is valid"`
}

// Compensacion is a driver's pay; lists omit it.
type Compensacion struct {
	SalarioBase        *Decimal `json:"salarioBase,omitempty" minimum:"0" maximum:"999999999999"`
	PorcentajeComision *Decimal `json:"porcentajeComision,omitempty" minimum:"0" maximum:"100"`
	BancoCuenta        string   `json:"bancoCuenta,omitempty" maxLength:"20"`
	BancoClabe         string   `json:"bancoClabe,omitempty" pattern:"^[0-9]{18}$" patternDescription:"18 digits"`
}

// Desempeno are a driver's statistics, updated by completed trips.
type Desempeno struct {
	ViajesCompletados    int64    `json:"viajesCompletados"`
	KmTotales            Decimal  `json:"kmTotales"`
	CalificacionPromedio *Decimal `json:"calificacionPromedio,omitempty" doc:"The average rating of trips, from 1 to 5"`
	PuntualidadPromedio  *Decimal `json:"puntualidadPromedio,omitempty" doc:"The percentage of trips that arrived on time"`
	Incidentes           int64    `json:"incidentes"`
}

// Asignacion is what a driver is currently assigned to.
type Asignacion struct {
	ViajeActualID      string `json:"viajeActualId,omitempty"`
	VehiculoAsignadoID string `json:"vehiculoAsignadoId,omitempty"`
	UbicacionActual    string `json:"ubicacionActual,omitempty"`
}

// Conductor is a driver.
type Conductor struct {
	ConductorID  string           `json:"conductorId" doc:"A ULID"`
	Nombre       string           `json:"nombre"`
	Rfc          string           `json:"rfc"`
	Curp         string           `json:"curp"`
	Email        string           `json:"email,omitempty"`
	Telefono     string           `json:"telefono,omitempty"`
	Estado       db.EstadoRecurso `json:"estado" enum:"disponible,en_viaje,inactivo,taller"`
	Activo       bool             `json:"activo"`
	Licencia     Licencia         `json:"licencia"`
	Compensacion *Compensacion    `json:"compensacion,omitempty"`
	Performance  Desempeno        `json:"performance"`
	Asignacion   Asignacion       `json:"asignacion"`
	CreatedAt    time.Time        `json:"createdAt"`
	UpdatedAt    time.Time        `json:"updatedAt"`
}

// Version implements api.Versioned.
func (c Conductor) Version() time.Time { return c.UpdatedAt }

// ConductorResumen is a driver in a list by state.
type ConductorResumen struct {
	ConductorID string           `json:"conductorId"`
	Nombre      string           `json:"nombre"`
	Estado      db.EstadoRecurso `json:"estado" enum:"disponible,en_viaje,inactivo,taller"`
	UpdatedAt   time.Time        `json:"updatedAt"`
}

// NuevoConductor is a driver as input.
type NuevoConductor struct {
	Nombre             string           `json:"nombre" minLength:"1" maxLength:"100"`
	Rfc                string           `json:"rfc" maxLength:"13" doc:"A person's RFC"`
	Curp               string           `json:"curp" maxLength:"18"`
	Email              string           `json:"email,omitempty" format:"email" maxLength:"254"`
	Telefono           string           `json:"telefono,omitempty" maxLength:"30"`
	Estado             db.EstadoRecurso `json:"estado,omitempty" enum:"disponible,inactivo" default:"disponible" doc:"en_viaje is set by the trip"`
	Activo             *bool            `json:"activo,omitempty" doc:"Whether they drive for the company; the default is true"`
	Licencia           Licencia         `json:"licencia"`
	Compensacion       *Compensacion    `json:"compensacion,omitempty"`
	VehiculoAsignadoID string           `json:"vehiculoAsignadoId,omitempty" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID"`
	UbicacionActual    string           `json:"ubicacionActual,omitempty" maxLength:"200"`
}

// Vehiculo is a vehicle.
type Vehiculo struct {
	VehiculoID         string           `json:"vehiculoId" doc:"A ULID"`
	Placa              string           `json:"placa"`
	Estado             db.EstadoRecurso `json:"estado" enum:"disponible,en_viaje,inactivo,taller"`
	ConfigVehicular    string           `json:"configVehicular"`
	AnioModeloVM       int64            `json:"anioModeloVm"`
	PesoBrutoVehicular Decimal          `json:"pesoBrutoVehicular"`
	PermSct            string           `json:"permSct"`
	NumPermisoSct      string           `json:"numPermisoSct"`
	AseguraRespCivil   string           `json:"aseguraRespCivil"`
	PolizaRespCivil    string           `json:"polizaRespCivil"`
	PermisoVigencia    *Fecha           `json:"permisoVigencia,omitempty" doc:"The last day on which the permit is valid"`
	SeguroVigencia     *Fecha           `json:"seguroVigencia,omitempty" doc:"The last day on which the insurance is valid"`
	KmTotales          Decimal          `json:"kmTotales"`
	ViajeActualID      string           `json:"viajeActualId,omitempty"`
	CreatedAt          time.Time        `json:"createdAt"`
	UpdatedAt          time.Time        `json:"updatedAt"`
}

// Version implements api.Versioned.
func (v Vehiculo) Version() time.Time { return v.UpdatedAt }

// NuevoVehiculo is a vehicle as input.
type NuevoVehiculo struct {
	Placa              string           `json:"placa" pattern:"^[A-Z0-9-]{5,10}$" patternDescription:"capitals, digits and -"`
	Estado             db.EstadoRecurso `json:"estado,omitempty" enum:"disponible,inactivo,taller" default:"disponible" doc:"en_viaje is set by the trip"`
	ConfigVehicular    string           `json:"configVehicular" maxLength:"10" doc:"Key of c_ConfigAutotransporte, as T3S2"`
	AnioModeloVM       int64            `json:"anioModeloVm" minimum:"1900" maximum:"2099"`
	PesoBrutoVehicular Decimal          `json:"pesoBrutoVehicular" minimum:"0.01" maximum:"999" doc:"Tons"`
	PermSct            string           `json:"permSct" maxLength:"6" doc:"Key of c_TipoPermiso, as TPAF01"`
	NumPermisoSct      string           `json:"numPermisoSct" minLength:"1" maxLength:"50"`
	AseguraRespCivil   string           `json:"aseguraRespCivil" minLength:"3" maxLength:"50"`
	PolizaRespCivil    string           `json:"polizaRespCivil" minLength:"3" maxLength:"30"`
	PermisoVigencia    *Fecha           `json:"permisoVigencia,omitempty" doc:"The last day on which the permit is valid"`
	SeguroVigencia     *Fecha           `json:"seguroVigencia,omitempty" doc:"The last day on which the insurance is valid"`
}

// Remolque is a trailer.
type Remolque struct {
	RemolqueID     string           `json:"remolqueId" doc:"A ULID"`
	Placa          string           `json:"placa"`
	SubTipoRem     string           `json:"subTipoRem"`
	SeguroVigencia *Fecha           `json:"seguroVigencia,omitempty" doc:"The last day on which the insurance is valid"`
	Estado         db.EstadoRecurso `json:"estado" enum:"disponible,en_viaje,inactivo,taller"`
	ViajeActualID  string           `json:"viajeActualId,omitempty"`
	CreatedAt      time.Time        `json:"createdAt"`
	UpdatedAt      time.Time        `json:"updatedAt"`
}

// Version implements api.Versioned.
func (r Remolque) Version() time.Time { return r.UpdatedAt }

// NuevoRemolque is a trailer as input.
type NuevoRemolque struct {
	Placa          string           `json:"placa" pattern:"^[A-Z0-9-]{5,10}$" patternDescription:"capitals, digits and -"`
	SubTipoRem     string           `json:"subTipoRem" maxLength:"6" doc:"Key of c_SubTipoRem, as CTR007"`
	SeguroVigencia *Fecha           `json:"seguroVigencia,omitempty" doc:"The last day on which the insurance is valid"`
	Estado         db.EstadoRecurso `json:"estado,omitempty" enum:"disponible,inactivo,taller" default:"disponible" doc:"en_viaje is set by the trip"`
}

// UnidadResumen is a vehicle or a trailer in a list.
type UnidadResumen struct {
	VehiculoID string           `json:"vehiculoId,omitempty" from:",optional"`
	RemolqueID string           `json:"remolqueId,omitempty" from:",optional"`
	Placa      string           `json:"placa"`
	Estado     db.EstadoRecurso `json:"estado" enum:"disponible,en_viaje,inactivo,taller"`
	UpdatedAt  time.Time        `json:"updatedAt"`
}

// RecursosConsulta has the ids to look up.
type RecursosConsulta struct {
	Conductores []string `json:"conductores,omitempty" nullable:"false" maxItems:"100" doc:"Ids of drivers"`
	Vehiculos   []string `json:"vehiculos,omitempty" nullable:"false" maxItems:"100" doc:"Ids of vehicles"`
	Remolques   []string `json:"remolques,omitempty" nullable:"false" maxItems:"100" doc:"Ids of trailers"`
}

// RecursosHallados has the items whose ids exist.
type RecursosHallados struct {
	Conductores []Conductor `json:"conductores" nullable:"false"`
	Vehiculos   []Vehiculo  `json:"vehiculos" nullable:"false"`
	Remolques   []Remolque  `json:"remolques" nullable:"false"`
}

// Recursos are a trip's driver, vehicle and trailer.
type Recursos struct {
	ConductorID     string `json:"conductorId"`
	ConductorNombre string `json:"conductorNombre" doc:"As it was when the driver was assigned"`
	VehiculoID      string `json:"vehiculoId"`
	VehiculoPlaca   string `json:"vehiculoPlaca"`
	RemolqueID      string `json:"remolqueId,omitempty"`
	RemolquePlaca   string `json:"remolquePlaca,omitempty"`
}

// Fiscal is a trip's summary of its carta.
type Fiscal struct {
	CartaPorteID     string         `json:"cartaPorteId"`
	CartaPorteFolio  string         `json:"cartaPorteFolio"`
	CartaPorteStatus db.EstadoCarta `json:"cartaPorteStatus" enum:"borrador,en_timbrado,timbrada,en_cancelacion,cancelada"`
}

// Costos are a trip's costs and price.
type Costos struct {
	CombustibleEstimado *Decimal `json:"combustibleEstimado,omitempty" minimum:"0" maximum:"999999999999"`
	PeajesEstimados     *Decimal `json:"peajesEstimados,omitempty" minimum:"0" maximum:"999999999999"`
	CostoTotal          *Decimal `json:"costoTotal,omitempty" minimum:"0" maximum:"999999999999"`
	PrecioCliente       *Decimal `json:"precioCliente,omitempty" minimum:"0" maximum:"999999999999"`
	Margen              *Decimal `json:"margen,omitempty" minimum:"-999999999999" maximum:"999999999999" doc:"precioCliente minus costoTotal; computed"`
}

// margin returns a trip's profit, or nil if it cannot be computed.
func (c *Costos) margin() *table.Decimal {
	if c.PrecioCliente == nil || c.CostoTotal == nil {
		return nil
	}
	m, err := difference(c.PrecioCliente.Decimal, c.CostoTotal.Decimal)
	if err != nil {
		return nil // more digits than a DynamoDB number can have
	}
	return &m
}

// Viaje is a trip.
type Viaje struct {
	ViajeID               string         `json:"viajeId" doc:"A ULID"`
	Nombre                string         `json:"nombre"`
	Estado                db.EstadoViaje `json:"estado" enum:"borrador,programado,en_curso,completado,cancelado"`
	FechaInicioProgramada time.Time      `json:"fechaInicioProgramada"`
	FechaFinProgramada    time.Time      `json:"fechaFinProgramada"`
	Origen                string         `json:"origen"`
	Destino               string         `json:"destino"`
	OrigenCoordenadas     *Coordenadas   `json:"origenCoordenadas,omitempty"`
	DestinoCoordenadas    *Coordenadas   `json:"destinoCoordenadas,omitempty"`
	DistanciaTotal        Decimal        `json:"distanciaTotal" doc:"km"`
	Resources             *Recursos      `json:"resources,omitempty"`
	Fiscal                *Fiscal        `json:"fiscal,omitempty"`
	Local                 bool           `json:"local,omitempty" doc:"It uses no federal road and needs no carta"`
	Costos                *Costos        `json:"costos,omitempty"`
	CreatedAt             time.Time      `json:"createdAt"`
	UpdatedAt             time.Time      `json:"updatedAt"`
}

// Version implements api.Versioned.
func (v Viaje) Version() time.Time { return v.UpdatedAt }

// ViajeConCarta is a trip with its carta, if it has one, and its position, if it has started.
type ViajeConCarta struct {
	Viaje
	Tracking *Rastreo `json:"tracking,omitempty" doc:"The trip's position, once it has started"`
	Carta    *Carta   `json:"carta,omitempty" doc:"The trip's carta"`
	// Discrepancias appear when a trip is reassigned or moved after its carta was filled in.
	Discrepancias []string `json:"discrepancias,omitempty" enum:"conductor,vehiculo,remolque,salida,llegada" doc:"Which of the trip's driver, vehicle, trailer, departure and arrival its carta does not have, although it declares others, until the trip has ended"`
}

// ViajeResumen is a trip in a list.
type ViajeResumen struct {
	ViajeID               string         `json:"viajeId"`
	Nombre                string         `json:"nombre"`
	Estado                db.EstadoViaje `json:"estado" enum:"borrador,programado,en_curso,completado,cancelado"`
	FechaInicioProgramada time.Time      `json:"fechaInicioProgramada"`
	FechaFinProgramada    time.Time      `json:"fechaFinProgramada"`
	Origen                string         `json:"origen"`
	Destino               string         `json:"destino"`
	Resources             *Recursos      `json:"resources,omitempty" from:",optional" doc:"Driver, vehicle and trailer; omitted in lists by state"`
	Fiscal                *Fiscal        `json:"fiscal,omitempty" from:",optional" doc:"Its carta; omitted in lists by state"`
	Local                 bool           `json:"local,omitempty" from:",optional" doc:"It needs no carta; omitted in lists by state"`
	CreatedAt             time.Time      `json:"createdAt"`
	UpdatedAt             time.Time      `json:"updatedAt"`
}

// DatosViaje are a trip's data.
type DatosViaje struct {
	Nombre                string       `json:"nombre" minLength:"1" maxLength:"200"`
	FechaInicioProgramada time.Time    `json:"fechaInicioProgramada"`
	FechaFinProgramada    time.Time    `json:"fechaFinProgramada"`
	Origen                string       `json:"origen" minLength:"1" maxLength:"200"`
	Destino               string       `json:"destino" minLength:"1" maxLength:"200"`
	OrigenCoordenadas     *Coordenadas `json:"origenCoordenadas,omitempty"`
	DestinoCoordenadas    *Coordenadas `json:"destinoCoordenadas,omitempty"`
	Local                 bool         `json:"local,omitempty" doc:"It uses no federal road and may start without a carta"`
	DistanciaTotal        Decimal      `json:"distanciaTotal" minimum:"0.01" maximum:"99999" doc:"km"`
	Costos                *Costos      `json:"costos,omitempty"`
}

// NuevoViaje is a new trip.
type NuevoViaje struct {
	DatosViaje
	Estado db.EstadoViaje `json:"estado,omitempty" enum:"borrador,programado" default:"programado"`
	Carta  *NuevaCarta    `json:"carta,omitempty" doc:"Also creates the trip's carta, which takes a credit"`
}

// Llegada is how a trip ended.
type Llegada struct {
	Calificacion int64 `json:"calificacion,omitempty" minimum:"1" maximum:"5" doc:"The customer's rating of the driver; 5 is best"`
	Incidentes   int64 `json:"incidentes,omitempty" minimum:"0" maximum:"100" doc:"The number of incidents"`
}

// Ping is a reported position.
type Ping struct {
	Lat                Decimal   `json:"lat" minimum:"-90" maximum:"90" doc:"Latitude in degrees"`
	Lng                Decimal   `json:"lng" minimum:"-180" maximum:"180" doc:"Longitude in degrees"`
	At                 time.Time `json:"at" doc:"The time of the position; a repeated time is the same report"`
	DistanciaRecorrida *Decimal  `json:"distanciaRecorrida,omitempty" minimum:"0" maximum:"99999" doc:"The distance driven, in km; computed if absent"`
}

// Rastreo is a trip's current position and progress.
type Rastreo struct {
	ViajeID             string     `json:"viajeId"`
	Activo              bool       `json:"activo" doc:"Whether the trip is on the road"`
	UbicacionActual     *Posicion  `json:"ubicacionActual,omitempty" from:"-"`
	UltimaActualizacion *time.Time `json:"ultimaActualizacion,omitempty"`
	Progreso            int64      `json:"progreso" doc:"Per cent"`
	DistanciaRecorrida  Decimal    `json:"distanciaRecorrida" doc:"km"`
	DistanciaTotal      Decimal    `json:"distanciaTotal" doc:"km"`
}

// Posicion is a position.
type Posicion struct {
	Lat Decimal    `json:"lat"`
	Lng Decimal    `json:"lng"`
	At  *time.Time `json:"at,omitempty"`
}

// Sesion is a signed-in device.
type Sesion struct {
	SessionID   string    `json:"sessionId" doc:"The log-in, which is the origin_jti of its tokens"`
	Dispositivo string    `json:"dispositivo"`
	CreatedAt   time.Time `json:"createdAt"`
	ExpiresAt   time.Time `json:"expiresAt" from:"TTL" doc:"When it expires"`
}

// Domicilio is an address with keys of the SAT's catalogues.
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

// Coordenadas are geographic coordinates.
type Coordenadas struct {
	Lat Decimal `json:"lat" minimum:"-90" maximum:"90" doc:"Latitude in degrees"`
	Lng Decimal `json:"lng" minimum:"-180" maximum:"180" doc:"Longitude in degrees"`
}
