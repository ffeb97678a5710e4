package transporteapp

import (
	"slices"
	"time"

	"github.com/monotable/monotable/systems/internal/byname"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// Request and response types of members.

// Empresa is a company on whose behalf the caller acts.
type Empresa struct {
	EmpresaID   string `json:"empresaId" doc:"The value for the header Empresa"`
	Nombre      string `json:"nombre"`
	Timezone    string `json:"timezone"`
	Rol         db.Rol `json:"rol" enum:"propietario,despachador,conductor" doc:"The caller's role"`
	ConductorID string `json:"conductorId,omitempty" doc:"The driver's id in the fleet"`
}

// Miembro is a member of a company.
type Miembro struct {
	MiembroID   string    `json:"miembroId" doc:"The sub of their tokens"`
	Nombre      string    `json:"nombre"`
	Rol         db.Rol    `json:"rol" enum:"propietario,despachador,conductor"`
	ConductorID string    `json:"conductorId,omitempty" doc:"The driver's id in the fleet"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

// RolDeMiembro is a member's role.
type RolDeMiembro struct {
	Rol         db.Rol `json:"rol" enum:"propietario,despachador,conductor" doc:"A driver sees their own trips; a dispatcher everything but the members; an owner everything"`
	ConductorID string `json:"conductorId,omitempty" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"For the role conductor: the driver's id in the fleet"`
}

// NuevaInvitacion is an invitation to be created.
type NuevaInvitacion struct {
	Nombre string `json:"nombre" minLength:"1" maxLength:"100" doc:"Who it is for"`
	RolDeMiembro
}

// Invitacion is an open invitation.
type Invitacion struct {
	InvitacionID string    `json:"invitacionId"`
	Nombre       string    `json:"nombre"`
	Rol          db.Rol    `json:"rol" enum:"propietario,despachador,conductor"`
	ConductorID  string    `json:"conductorId,omitempty"`
	CreatedAt    time.Time `json:"createdAt"`
	ExpiresAt    time.Time `json:"expiresAt" from:"TTL" doc:"When it expires"`
}

// InvitacionHecha is a new invitation with its code, which is shown only once.
type InvitacionHecha struct {
	Invitacion
	EmpresaID string `json:"empresaId"`
	Codigo    string `json:"codigo" doc:"Accepting it makes the caller a member"`
}

// Codigo is the code of an invitation.
type Codigo struct {
	Codigo string `json:"codigo" minLength:"20" maxLength:"60" doc:"Of the invitation"`
}

// ViajesDeConductor are the trips of a driver.
type ViajesDeConductor struct {
	Items []Viaje `json:"items" nullable:"false"`
}

// MiembroPath identifies a member.
type MiembroPath struct {
	MiembroID string `path:"id" pattern:"^[A-Za-z0-9._:@-]{1,128}$" patternDescription:"a sub" doc:"Their sub"`
}

type changedMember struct {
	MiembroPath
	Body RolDeMiembro
}

type invitationPath struct {
	InvitacionID string `path:"id" pattern:"^[0-9a-f]{64}$" patternDescription:"an id of an invitation" doc:"Its id"`
}

type acceptance struct {
	EmpresaPath
	Body Codigo
}

var (
	miembroOf    = byname.Copy[db.Miembro, Miembro]()
	invitacionOf = byname.Copy[db.Invitacion, Invitacion]()
)

// byBeginning sorts trips by start.
func byBeginning(list []Viaje) []Viaje {
	slices.SortFunc(list, func(a, b Viaje) int { return a.FechaInicioProgramada.Compare(b.FechaInicioProgramada) })
	return list
}
