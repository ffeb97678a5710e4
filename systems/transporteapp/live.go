package transporteapp

import (
	"context"
	"errors"

	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/live"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// topic is what pages subscribe to: a company's trips, one driver's trips, or a member, whose connection ends when their role is
// revoked. A member without a company is a user, whose connection ends with their log-in.
type topic struct {
	company        string
	all            bool
	driver, member string
	logIn          string
}

// errLessNow ends the event stream of a member whose role has changed.
var errLessNow = errors.New("the member's permissions have changed since the stream started")

// Cambio identifies a trip that a driver no longer has.
type Cambio struct {
	ViajeID string `json:"viajeId"`
}

// boardEvents describes the events of trips.
func boardEvents() (huma.Operation, map[string]any) {
	return huma.Operation{
		OperationID: "watchViajes", Path: "/eventos", Summary: "Changes to trips; drivers receive their own", Tags: []string{"Viajes"},
		Description: "viaje, when a trip is created or changed; rastreo, with a position, for members who see all trips; cambio, when a trip no longer belongs to the driver.",
	}, map[string]any{"viaje": ViajeResumen{}, "rastreo": Rastreo{}, "cambio": Cambio{}}
}

// watch returns a member's subscription.
func (s *service) watch(ctx context.Context, who auth.Principal) (live.Feed[topic], error) {
	m := memberOf(ctx)
	of := topic{company: m.UserID, all: true}
	if m.Rol == db.RolConductor {
		of = topic{company: m.UserID, driver: text(m.ConductorID)}
	}
	return live.Feed[topic]{
		Topics: []topic{of, {company: m.UserID, member: m.MiembroID}, {member: m.MiembroID, logIn: who.LogIn}},
		Still: func(ctx context.Context) error { // catches what the change stream reports late or not at all
			now, err := s.member(ctx, m.UserID, m.MiembroID)
			if err == nil && !sameRole(now, m) {
				err = errLessNow
			}
			return errors.Join(err, s.stillOpen(ctx, m.MiembroID, who.LogIn))
		},
	}, nil
}

func sameRole(a, b db.Miembro) bool {
	return a.Rol == b.Rol && text(a.ConductorID) == text(b.ConductorID)
}

// publishTrips publishes changes of trips. It also notifies a driver who loses a trip.
func (s *service) publishTrips(_ context.Context, b consumer.Batch) error {
	for _, r := range b.Records {
		if r.Dynamodb == nil {
			continue
		}
		before, after := stored(r.Dynamodb.OldImage), stored(r.Dynamodb.NewImage)
		switch x := after.(type) {
		case db.Viaje:
			of := topic{company: x.UserID, driver: driverOf(x)}
			s.hub.Publish("viaje", viajeEnLista(x), topic{company: x.UserID, all: true}, of)
			if was, there := before.(db.Viaje); there && driverOf(was) != of.driver {
				s.hub.Publish("cambio", Cambio{x.ViajeID}, topic{company: x.UserID, driver: driverOf(was)})
			}
		case db.Tracking:
			s.hub.Publish("rastreo", rastreoOf(x), topic{company: x.UserID, all: true})
		case db.Session:
			if x.CerradaAt != nil {
				s.hub.End(topic{member: x.UserID, logIn: x.SessionID})
			}
		}
		if was, there := before.(db.Miembro); there {
			if now, still := after.(db.Miembro); !still || !sameRole(was, now) {
				s.hub.End(topic{company: was.UserID, member: was.MiembroID})
			}
		}
	}
	return nil
}

// driverOf returns a trip's driver, or "" if it has none.
func driverOf(v db.Viaje) string {
	if v.Resources == nil {
		return ""
	}
	return v.Resources.ConductorID
}

// stored returns an image's item, or nil for markers and absent images.
func stored(image map[string]streams.AttributeValue) any {
	if image == nil {
		return nil
	}
	x, place, err := db.Decode(table.FromStream(image))
	if err != nil || place.Kind != table.KeyPlace {
		return nil
	}
	return x
}
