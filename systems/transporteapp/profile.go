package transporteapp

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// profile returns the company's profile, with this month's usage.
func (s *service) profile(ctx context.Context, who auth.Principal, _ api.None) (Perfil, error) {
	u, err := s.db.Perfil(ctx, db.PerfilInput{UserID: who.Sub})
	if err != nil {
		return Perfil{}, err
	}
	used, err := s.used(ctx, &u)
	return perfilOf(&u, used), err
}

// used returns the number of cartas created this month.
func (s *service) used(ctx context.Context, u *db.User) (int64, error) {
	month, err := monthOf(s.now(), u.Timezone)
	if err != nil {
		return 0, err
	}
	usage, err := s.db.UsoDelMes(ctx, db.UsoDelMesInput{UserID: u.UserID, Mes: month})
	if errors.Is(err, table.ErrNotFound) {
		return 0, nil
	}
	return usage.Cartas, err
}

// monthOf returns the month of a time in a time zone.
func monthOf(at time.Time, zone string) (string, error) {
	place, err := time.LoadLocation(zone)
	if err != nil {
		return "", err
	}
	return at.In(place).Format("2006-01"), nil
}

// dayOf returns the date of a time in the company's time zone.
func (s *service) dayOf(ctx context.Context, userID string, at time.Time) (table.Date, error) {
	zone, err := s.zoneOf(ctx, userID)
	return table.DateOf(at.In(cmp.Or(zone, time.UTC))), err
}

// zoneOf returns the company's time zone.
func (s *service) zoneOf(ctx context.Context, userID string) (*time.Location, error) {
	company, err := s.db.Perfil(ctx, db.PerfilInput{UserID: userID})
	if err != nil {
		return nil, err
	}
	return time.LoadLocation(company.Timezone)
}

// saveProfile changes a company's profile, or creates it with the initial plan.
func (s *service) saveProfile(ctx context.Context, who auth.Principal, in changedProfile) (Perfil, error) {
	if err := in.Body.check(); err != nil {
		return Perfil{}, err
	}
	var u db.User
	err := s.change(ctx, &in.Seen, func() error {
		changed, err := s.db.GuardarPerfil(ctx, guardarPerfil(owner{who.Sub}, in))
		u = changed.User
		if !errors.Is(err, db.ErrUserNotFound) {
			return err
		}
		created, err := s.db.CrearPerfil(ctx, crearPerfil(newCompany{who.Sub, s.plan.subscription(s.moment()), db.Creditos{Balance: s.plan.Creditos}}, in.Body))
		u = created.User
		return err
	}, db.ErrUserExists) // another request was faster, so change the profile instead
	if err != nil {
		return Perfil{}, err
	}
	used, err := s.used(ctx, &u)
	return perfilOf(&u, used), err
}

func (p Plan) subscription(now time.Time) db.Suscripcion {
	return db.Suscripcion{
		PlanID: p.ID, PlanName: p.Name, Status: db.EstadoSuscripcionActive, ExpiresAt: now.Add(p.Lasts),
		Limits: db.Limites{Conductores: p.Conductores, Vehiculos: p.Vehiculos, CartasPorteMes: p.CartasPorteMes},
	}
}

// check rejects what the schema cannot express.
func (in *NuevoPerfil) check() error {
	var bad fields
	// Names of time zones begin with a capital. A system's files have others, which browsers do not know: localtime, right/UTC.
	_, err := time.LoadLocation(in.Timezone)
	bad.addIf(err != nil || in.Timezone == "Local" || in.Timezone < "A" || in.Timezone >= "[", "body.timezone", "is not a time zone such as America/Mexico_City")
	if c := in.Config; c != nil {
		p, err := cartaporte.RFC(c.RfcEmisor)
		bad.addIf(err != nil || p == cartaporte.Generico, "body.config.rfcEmisor", "is not the RFC of a taxpayer")
		bad.addIf(!cartaporte.RegimenFiscal.Tiene(c.RegimenFiscal), "body.config.regimenFiscal", "is not a key of c_RegimenFiscal")
		bad.domicilio("body.config.domicilioFiscal", c.DomicilioFiscal)
	}
	return bad.problem()
}

// fields collects the invalid fields of a request.
type fields []problem.Field

func (f *fields) add(field, message string) {
	*f = append(*f, problem.Field{Field: field, Message: message})
}

func (f *fields) addIf(wrong bool, field, message string) {
	if wrong {
		f.add(field, message)
	}
}

func (f *fields) domicilio(field string, d Domicilio) {
	f.addIf(!cartaporte.CodigoPostal(d.CodigoPostal, d.Estado), field+".codigoPostal", "is not a postal code of the state")
}

// problem returns nil if nothing is invalid.
func (f *fields) problem() error {
	if len(*f) == 0 {
		return nil
	}
	return problem.BadRequest(problem.CodeInvalidBody, "the request body has invalid fields", *f...)
}

// changePlan changes a company's subscription.
func (s *service) changePlan(ctx context.Context, _ auth.Principal, in planChange) (Perfil, error) {
	var u db.User
	err := again(ctx, func() error {
		changed, err := s.db.CambiarPlan(ctx, db.CambiarPlanInput{UserID: in.UserID, Subscription: suscripcionStored(in.Body)})
		u = changed.User
		return err
	})
	if err != nil {
		return Perfil{}, err
	}
	used, err := s.used(ctx, &u)
	return perfilOf(&u, used), err
}

// addCredits adds credits that a company has bought. The back office calls it.
func (s *service) addCredits(ctx context.Context, who auth.Principal, in newAbono) (Abono, bool, error) {
	n := in.Body.Creditos
	r := newRequest(in.UserID, in.RequestKey, "abono", n).of(who.Sub, in.RequestKey)
	return keyed(ctx, s, r, func() (response Abono, err error) {
		err = s.inTurn(ctx, in.UserID, func() error {
			u, err := s.db.Perfil(ctx, db.PerfilInput{UserID: in.UserID})
			if err != nil {
				return err
			}
			response = Abono{UserID: in.UserID, Creditos: n, Balance: u.Credits.Balance + n}
			r := r.withResponse(response)
			done, err := s.db.AbonarCreditos(ctx, db.AbonarCreditosInput{
				RequestKey: r.RequestKey, Operacion: r.Operacion, Huella: r.Huella, Respuesta: r.Respuesta,
				UserID: in.UserID, Creditos: n, Visto: u.Credits.Balance,
			})
			return overtaken(done.Replayed, err)
		}, db.ErrSaldoCambio)
		return response, err
	})
}
