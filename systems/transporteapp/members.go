package transporteapp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// companyHeader names the company of a request; the default is the caller's own.
const companyHeader = "Empresa"

// rolesOf is the metadata key for the roles that may call an operation.
const rolesOf = "transporteapp/roles"

// forDrivers lets drivers call the operation, for their own trips.
func forDrivers(op *huma.Operation) {
	setRoles(op, db.RolPropietario, db.RolDespachador, db.RolConductor)
}

// forOwners lets only owners call the operation.
func forOwners(op *huma.Operation) { setRoles(op, db.RolPropietario) }

// forAll lets every member call the operation.
func forAll(op *huma.Operation) {
	setRoles(op, db.RolPropietario, db.RolDespachador, db.RolConductor)
	op.Metadata[rolesOf+"/all"] = true
}

func setRoles(op *huma.Operation, roles ...db.Rol) {
	if op.Metadata == nil {
		op.Metadata = map[string]any{}
	}
	op.Metadata[rolesOf] = roles
}

type memberKey struct{}

// memberOf returns the member who calls a company's operation.
func memberOf(ctx context.Context) db.Miembro {
	m, _ := ctx.Value(memberKey{}).(db.Miembro)
	return m
}

// inCompany returns the options of a company's operations: only members can call them, and the principal becomes the company.
func (s *service) inCompany() []api.Option {
	return []api.Option{
		func(op *huma.Operation) {
			op.Parameters = append(op.Parameters, &huma.Param{
				Name: companyHeader, In: "header", Description: "The userId of the company, for members of a company that is not their own",
				Schema: &huma.Schema{Type: huma.TypeString},
			})
		},
		api.Through(s.admitMember), api.Refuses(errSinAcceso, errRol),
	}
}

// admitMember looks the caller up in the company for each request, so that a revoked role takes effect with the next request.
// Drivers may only access their own trips.
func (s *service) admitMember(ctx huma.Context) (context.Context, error) {
	who, err := auth.Required(ctx.Context())
	if err != nil {
		return nil, err
	}
	company := ctx.Header(companyHeader)
	if company == "" {
		company = who.Sub
	}
	m, err := s.member(ctx.Context(), company, who.Sub)
	if err != nil {
		return nil, err
	}
	inner := context.WithValue(ctx.Context(), memberKey{}, m)
	inner = auth.With(inner, auth.Principal{Sub: company, LogIn: who.LogIn})
	roles, _ := ctx.Operation().Metadata[rolesOf].([]db.Rol)
	if roles == nil {
		roles = []db.Rol{db.RolPropietario, db.RolDespachador}
	}
	for _, r := range roles {
		if r != m.Rol {
			continue
		}
		if _, all := ctx.Operation().Metadata[rolesOf+"/all"]; m.Rol != db.RolConductor || all {
			return inner, nil
		}
		return inner, s.onlyOwn(inner, m, ctx.Operation().Path, ctx.Param("id"))
	}
	return nil, errRol
}

// member returns a user's membership of a company. A user without a company may create their own.
func (s *service) member(ctx context.Context, company, sub string) (db.Miembro, error) {
	m, err := s.db.MiembroPorID(ctx, db.MiembroPorIDInput{UserID: company, MiembroID: sub})
	if !errors.Is(err, table.ErrNotFound) {
		return m, err
	}
	if company != sub {
		return m, errSinAcceso
	}
	switch _, err := s.db.Perfil(ctx, db.PerfilInput{UserID: company}); {
	case errors.Is(err, table.ErrNotFound):
		return db.Miembro{UserID: company, MiembroID: sub, Rol: db.RolPropietario}, nil
	case err != nil:
		return m, err
	default: // the founder has left
		return m, errSinAcceso
	}
}

// onlyOwn hides everything from a driver that does not belong to their own trips.
func (s *service) onlyOwn(ctx context.Context, m db.Miembro, path, id string) error {
	switch {
	case strings.HasPrefix(path, "/conductores/"):
		if id != text(m.ConductorID) {
			return table.ErrNotFound
		}
		return nil
	case strings.HasPrefix(path, "/cartas/"):
		c, err := s.carta(ctx, m.UserID, id)
		if err != nil {
			return err
		}
		id = c.ViajeID
	}
	v, err := s.db.ViajePorID(ctx, db.ViajePorIDInput{UserID: m.UserID, ViajeID: id})
	if err == nil && !drives(m, v.Resources) {
		return table.ErrNotFound
	}
	return err
}

// drives reports whether a member is a trip's driver.
func drives(m db.Miembro, r *db.Recursos) bool {
	return r != nil && m.ConductorID != nil && r.ConductorID == *m.ConductorID
}

// seen is a trip as the calling member may see it: drivers do not see costs and prices.
func seen(ctx context.Context, v db.Viaje) Viaje {
	out := viajeOf(v)
	if memberOf(ctx).Rol == db.RolConductor {
		out.Costos = nil
	}
	return out
}

// companies returns a page of the caller's companies.
func (s *service) companies(ctx context.Context, who auth.Principal, in api.PageQuery) (table.Page[Empresa], error) {
	page, err := s.db.EmpresasDeMiembro(ctx, db.EmpresasDeMiembroInput{MiembroID: who.Sub}, in.Options())
	out := table.Page[Empresa]{Next: page.Next, Items: []Empresa{}}
	if err != nil {
		return out, err
	}
	// The index may be stale, so check its entries.
	found, err := s.db.MiembroPorIDBatch(ctx, each(page.Items, func(m db.Miembro) db.MiembroPorIDInput {
		return db.MiembroPorIDInput{UserID: m.UserID, MiembroID: who.Sub}
	}))
	if err != nil {
		return out, err
	}
	profiles, err := s.db.PerfilBatch(ctx, each(page.Items, func(m db.Miembro) db.PerfilInput { return db.PerfilInput{UserID: m.UserID} }))
	if err != nil {
		return out, err
	}
	for i, m := range found {
		if m != nil && profiles[i] != nil {
			out.Items = append(out.Items, Empresa{
				EmpresaID: m.UserID, Nombre: profiles[i].FullName, Timezone: profiles[i].Timezone, Rol: m.Rol, ConductorID: text(m.ConductorID),
			})
		}
	}
	return out, nil
}

// invite creates an invitation. Its code is shown only once.
func (s *service) invite(ctx context.Context, who auth.Principal, in api.Body[NuevaInvitacion]) (InvitacionHecha, error) {
	if err := s.mayBe(ctx, who.Sub, in.Body.Rol, in.Body.ConductorID); err != nil {
		return InvitacionHecha{}, err
	}
	code := rand.Text()
	i := db.InvitarInput{
		UserID: who.Sub, InvitacionID: codeID(code), Nombre: in.Body.Nombre, Rol: in.Body.Rol, ConductorID: given(in.Body.ConductorID),
	}
	created, err := s.db.Invitar(ctx, i)
	return InvitacionHecha{Invitacion: invitacionOf(created.Invitacion), EmpresaID: who.Sub, Codigo: code}, err
}

// codeID is the stored form of a code.
func codeID(code string) string {
	sum := sha256.Sum256([]byte(code))
	return hex.EncodeToString(sum[:])
}

// mayBe rejects invalid roles: the role driver needs a driver of the fleet, and other roles must not have one.
func (s *service) mayBe(ctx context.Context, company string, rol db.Rol, driver string) error {
	var bad fields
	bad.addIf((rol == db.RolConductor) != (driver != ""), "body.conductorId", "is required for the role conductor and allowed only there")
	if err := bad.problem(); err != nil || driver == "" {
		return err
	}
	_, err := s.db.ConductorPorID(ctx, db.ConductorPorIDInput{UserID: company, ConductorID: driver})
	if errors.Is(err, table.ErrNotFound) {
		bad.add("body.conductorId", "is not one of your drivers")
		return bad.problem()
	}
	return err
}

// accept makes the caller a member of the inviting company. An existing member keeps their role.
func (s *service) accept(ctx context.Context, who auth.Principal, in acceptance) (Miembro, error) {
	var m db.Miembro
	err := again(ctx, func() error {
		i, err := s.db.InvitacionPorID(ctx, db.InvitacionPorIDInput{UserID: in.UserID, InvitacionID: codeID(in.Body.Codigo)})
		if errors.Is(err, table.ErrNotFound) {
			return errInvitacion
		}
		if err != nil {
			return err
		}
		done, err := s.db.AceptarInvitacion(ctx, db.AceptarInvitacionInput{
			UserID: in.UserID, InvitacionID: i.InvitacionID, MiembroID: who.Sub, Nombre: i.Nombre, Rol: i.Rol, ConductorID: i.ConductorID,
			Propietarios: owners(i.Rol),
		})
		m = done.Miembro
		return err
	})
	if errors.Is(err, errInvitacion) || errors.Is(err, db.ErrMiembroExists) || errors.Is(err, db.ErrInvitacionVencida) {
		was, lookup := s.db.MiembroPorID(ctx, db.MiembroPorIDInput{UserID: in.UserID, MiembroID: who.Sub})
		if errors.Is(lookup, table.ErrNotFound) {
			return Miembro{}, errInvitacion
		}
		return miembroOf(was), lookup
	}
	return miembroOf(m), err
}

// owners is 1 for an owner and 0 for other roles.
func owners(rol db.Rol) int64 {
	if rol == db.RolPropietario {
		return 1
	}
	return 0
}

// change returns by how much a member's new role changes the number of owners, and the number that the current count must exceed:
// the last owner cannot be removed.
func change(from, to db.Rol) (added, least int64) {
	added = owners(to) - owners(from)
	if added < 0 {
		return added, 1
	}
	return added, 0
}

// changeRole gives a member another role.
func (s *service) changeRole(ctx context.Context, who auth.Principal, in changedMember) (db.Miembro, error) {
	if err := s.mayBe(ctx, who.Sub, in.Body.Rol, in.Body.ConductorID); err != nil {
		return db.Miembro{}, err
	}
	key := db.MiembroPorIDInput{UserID: who.Sub, MiembroID: in.MiembroID}
	err := again(ctx, func() error {
		m, err := s.db.MiembroPorID(ctx, key)
		if err != nil {
			return err
		}
		added, least := change(m.Rol, in.Body.Rol)
		return errorOf(s.db.CambiarRol(ctx, db.CambiarRolInput{
			UserID: m.UserID, MiembroID: m.MiembroID, Visto: m.Rol, Rol: in.Body.Rol, ConductorID: given(in.Body.ConductorID),
			Propietarios: added, Minimo: least,
		}))
	}, db.ErrMiembroCambio)
	if err != nil {
		return db.Miembro{}, err
	}
	return s.db.MiembroPorID(ctx, key)
}

// removeMember removes a member: owners can remove anyone, others only themselves.
func (s *service) removeMember(ctx context.Context, who auth.Principal, in MiembroPath) error {
	if me := memberOf(ctx); me.Rol != db.RolPropietario && me.MiembroID != in.MiembroID {
		return errRol
	}
	return again(ctx, func() error {
		m, err := s.db.MiembroPorID(ctx, db.MiembroPorIDInput{UserID: who.Sub, MiembroID: in.MiembroID})
		if err != nil {
			return err
		}
		added, least := change(m.Rol, "")
		return errorOf(s.db.QuitarMiembro(ctx, db.QuitarMiembroInput{
			UserID: m.UserID, MiembroID: m.MiembroID, Visto: m.Rol, Propietarios: added, Minimo: least,
		}))
	}, db.ErrMiembroCambio)
}

// driverTrips returns a driver's current and planned trips from the agenda, sorted by start.
func (s *service) driverTrips(ctx context.Context, who auth.Principal, in ConductorPath) (ViajesDeConductor, error) {
	out := ViajesDeConductor{Items: []Viaje{}}
	agendas, err := s.agendas(ctx, who.Sub, []string{in.ConductorID})
	if err != nil {
		return out, err
	}
	a := agendas[in.ConductorID]
	if a == nil || a.Tipo != db.TipoRecursoConductor {
		return out, table.ErrNotFound
	}
	var ids []db.ViajePorIDInput
	for id := range a.Periodos {
		ids = append(ids, db.ViajePorIDInput{UserID: who.Sub, ViajeID: id})
	}
	trips, err := s.db.ViajePorIDBatch(ctx, ids)
	out.Items = byBeginning(found(trips, func(v db.Viaje) Viaje { return seen(ctx, v) }))
	return out, err
}
