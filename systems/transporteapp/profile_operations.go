package transporteapp

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// Limites are what a plan allows.
type Limites struct {
	Conductores    int64 `json:"conductores" minimum:"0" maximum:"500" doc:"Drivers"`
	Vehiculos      int64 `json:"vehiculos" minimum:"0" maximum:"500" doc:"Vehicles"`
	CartasPorteMes int64 `json:"cartasPorteMes" minimum:"0" maximum:"1000000" doc:"Cartas a month"`
}

// Suscripcion is what a company pays for.
type Suscripcion struct {
	PlanID    string               `json:"planId" minLength:"1" maxLength:"100"`
	PlanName  string               `json:"planName" minLength:"1" maxLength:"100"`
	Status    db.EstadoSuscripcion `json:"status" enum:"active,suspended,cancelled"`
	ExpiresAt time.Time            `json:"expiresAt" doc:"Until when it is paid for"`
	Limits    Limites              `json:"limits"`
}

func suscripcionOf(s db.Suscripcion) Suscripcion {
	return Suscripcion{PlanID: s.PlanID, PlanName: s.PlanName, Status: s.Status, ExpiresAt: s.ExpiresAt, Limits: Limites(s.Limits)}
}

func (s Suscripcion) stored() db.Suscripcion {
	return db.Suscripcion{PlanID: s.PlanID, PlanName: s.PlanName, Status: s.Status, ExpiresAt: s.ExpiresAt, Limits: db.Limites(s.Limits)}
}

// Creditos are what stamps are paid with.
type Creditos struct {
	Balance       int64 `json:"balance" doc:"Free ones"`
	Reserved      int64 `json:"reserved" doc:"Those of drafts"`
	MonthlyUsed   int64 `json:"monthlyUsed" doc:"Cartas of this month"`
	TotalConsumed int64 `json:"totalConsumed" doc:"Those of stamped cartas"`
}

// ConfigFiscal is how a company issues.
type ConfigFiscal struct {
	RfcEmisor       string    `json:"rfcEmisor" maxLength:"13" doc:"The company's RFC"`
	RazonSocial     string    `json:"razonSocial" minLength:"1" maxLength:"254" doc:"Its name as the SAT has it"`
	RegimenFiscal   string    `json:"regimenFiscal" pattern:"^[0-9]{3}$" patternDescription:"a key of c_RegimenFiscal" doc:"Key of c_RegimenFiscal"`
	DomicilioFiscal Domicilio `json:"domicilioFiscal"`
}

func (c *ConfigFiscal) stored() *db.ConfigFiscal {
	if c == nil {
		return nil
	}
	return &db.ConfigFiscal{RfcEmisor: c.RfcEmisor, RazonSocial: c.RazonSocial, RegimenFiscal: c.RegimenFiscal, DomicilioFiscal: c.DomicilioFiscal.stored()}
}

// Perfil is a company.
type Perfil struct {
	UserID         string        `json:"userId" doc:"The sub of your access token"`
	Email          string        `json:"email"`
	FullName       string        `json:"fullName"`
	AvatarURL      string        `json:"avatarUrl,omitempty"`
	Timezone       string        `json:"timezone" doc:"Where its months begin"`
	Subscription   Suscripcion   `json:"subscription"`
	Credits        Creditos      `json:"credits"`
	Config         *ConfigFiscal `json:"config,omitempty" doc:"How it issues"`
	NumConductores int64         `json:"numConductores" doc:"How many drivers it has"`
	NumVehiculos   int64         `json:"numVehiculos" doc:"How many vehicles it has"`
	CreatedAt      time.Time     `json:"createdAt"`
	UpdatedAt      time.Time     `json:"updatedAt"`
}

func perfilOf(u *db.User, used int64) Perfil {
	p := Perfil{
		UserID: u.UserID, Email: u.Email, FullName: u.FullName, AvatarURL: text(u.AvatarURL), Timezone: u.Timezone,
		Subscription: suscripcionOf(u.Subscription),
		Credits: Creditos{
			Balance: u.Credits.Balance, Reserved: u.Credits.Reserved, MonthlyUsed: used, TotalConsumed: u.Credits.TotalConsumed,
		},
		NumConductores: u.NumConductores, NumVehiculos: u.NumVehiculos, CreatedAt: u.CreatedAt, UpdatedAt: u.UpdatedAt,
	}
	if c := u.Config; c != nil {
		p.Config = &ConfigFiscal{
			RfcEmisor: c.RfcEmisor, RazonSocial: c.RazonSocial, RegimenFiscal: c.RegimenFiscal, DomicilioFiscal: domicilioOf(c.DomicilioFiscal),
		}
	}
	return p
}

// NuevoPerfil is what a company says of itself.
type NuevoPerfil struct {
	Email     string        `json:"email" format:"email" maxLength:"254" doc:"Where you can be written to"`
	FullName  string        `json:"fullName" minLength:"1" maxLength:"200" doc:"What you are called"`
	AvatarURL string        `json:"avatarUrl,omitempty" format:"uri" maxLength:"500"`
	Timezone  string        `json:"timezone" minLength:"1" maxLength:"60" doc:"Where your months begin, as America/Mexico_City"`
	Config    *ConfigFiscal `json:"config,omitempty" doc:"How you issue; needed for cartas"`
}

// Abono is what was bought.
type Abono struct {
	UserID   string `json:"userId"`
	Creditos int64  `json:"creditos" doc:"How many were bought"`
	Balance  int64  `json:"balance" doc:"How many there were then"`
}

func (s *service) registerProfile(a huma.API) {
	huma.Register(a, huma.Operation{
		OperationID: "getPerfil", Method: http.MethodGet, Path: "/perfil", Tags: []string{"Perfil"},
		Summary: "Your company's profile", Errors: []int{http.StatusNotFound},
	}, s.getPerfil)
	huma.Register(a, huma.Operation{
		OperationID: "putPerfil", Method: http.MethodPut, Path: "/perfil", Tags: []string{"Perfil"},
		Summary: "Make or change your company's profile",
	}, s.putPerfil)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "putSuscripcion", Method: http.MethodPut, Path: "/empresas/{userId}/suscripcion", Tags: []string{"Back office"},
		Summary: "Change a company's plan", Errors: []int{http.StatusNotFound},
	}, api.Groups(AdminGroup)), s.putSuscripcion)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "createAbono", Method: http.MethodPost, Path: "/empresas/{userId}/creditos", Tags: []string{"Back office"},
		Summary: "Give a company credits that it has bought", DefaultStatus: http.StatusCreated, Errors: []int{http.StatusNotFound},
	}, api.Groups(AdminGroup)), s.createAbono)
}

type perfilOutput struct{ Body Perfil }

func (s *service) getPerfil(ctx context.Context, _ *struct{}) (*perfilOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	p, err := s.profile(ctx, who.Sub)
	return &perfilOutput{p}, err
}

func (s *service) putPerfil(ctx context.Context, in *struct{ Body NuevoPerfil }) (*perfilOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	p, err := s.saveProfile(ctx, who.Sub, in.Body)
	return &perfilOutput{p}, err
}

// CompanyPath names a company, in operations of the back office.
type CompanyPath struct {
	UserID string `path:"userId" pattern:"^[A-Za-z0-9._:@-]{1,128}$" patternDescription:"a sub" doc:"The company"`
}

type putSuscripcionInput struct {
	CompanyPath
	Body Suscripcion
}

func (s *service) putSuscripcion(ctx context.Context, in *putSuscripcionInput) (*perfilOutput, error) {
	p, err := s.changePlan(ctx, in.UserID, in.Body)
	return &perfilOutput{p}, err
}

type createAbonoInput struct {
	CompanyPath
	api.IdempotencyKey
	Body struct {
		Creditos int64 `json:"creditos" minimum:"1" maximum:"1000000" doc:"How many"`
	}
}

type createAbonoOutput struct {
	Status int
	Body   Abono
}

func (s *service) createAbono(ctx context.Context, in *createAbonoInput) (*createAbonoOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	done, replayed, err := s.addCredits(ctx, who.Sub, in.UserID, in.IdempotencyKey.IdempotencyKey, in.Body.Creditos)
	if err != nil {
		return nil, err
	}
	return &createAbonoOutput{api.CreatedStatus(replayed), done}, nil
}
