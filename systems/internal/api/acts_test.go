package api_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

// actsMoment is when the test's requests are made, and actsDay its day.
var actsMoment = time.Date(2026, 11, 23, 23, 59, 59, 123456789, time.UTC)

const actsDay = "2026-11-23"

// gatewayID is a request id of API Gateway, which is not an id in the sense of a design.
const gatewayID = "LV7fzho-PHcEJPw="

// ledger is a database with users to change and with acts. It counts its write requests and can fail.
type ledger struct {
	*appcoredb.DB
	writes []string
	fail   map[string]error // by request name
}

func openLedger(t *testing.T) *ledger {
	t.Helper()
	l := &ledger{}
	client := dynamodb.New(monotabletest.New(t).Client().Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error {
			return s.Initialize.Add(middleware.InitializeMiddlewareFunc("ledger",
				func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
					name := middleware.GetOperationName(ctx)
					if strings.Contains(name, "Write") || strings.HasPrefix(name, "Put") || strings.HasPrefix(name, "Update") {
						l.writes = append(l.writes, name)
					}
					if err := l.fail[name]; err != nil {
						return middleware.InitializeOutput{}, middleware.Metadata{}, err
					}
					return next.HandleInitialize(ctx, in)
				}), middleware.Before)
		})
	})
	if _, err := client.CreateTable(t.Context(), appcoredb.CreateTables(appcoredb.Config{})[0]); err != nil {
		t.Fatal(err)
	}
	var err error
	if l.DB, err = appcoredb.New(client, appcoredb.Config{CursorKey: []byte("a key of thirty-two bytes, or so"), Clock: func() time.Time { return actsMoment }}); err != nil {
		t.Fatal(err)
	}
	return l
}

// acts are the records of the day.
func (l *ledger) acts(t *testing.T) []appcoredb.Act {
	t.Helper()
	page, err := l.ActsOfDay(t.Context(), appcoredb.ActsOfDayInput{Day: actsDay}, table.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

// actRoutes are operations that change the user with the given id, for staff and for others.
func (l *ledger) actRoutes(a huma.API) {
	type path struct {
		ID string `path:"id"`
	}
	change := func(ctx context.Context, _ auth.Principal, in path) error {
		switch in.ID {
		case "none":
			return problem.NotFound("", "there is none")
		case "same":
			return nil
		}
		_, err := l.SaveProfile(ctx, appcoredb.SaveProfileInput{UserID: in.ID[:1], Email: "ana@mail.com", Name: "Ana"})
		if err == nil && in.ID == "lost" {
			return errors.New("the response cannot be encoded")
		}
		if err == nil && in.ID == "twice" {
			_, err = l.SaveProfile(ctx, appcoredb.SaveProfileInput{UserID: "second", Email: "ana@mail.com", Name: "Ana"})
		}
		return err
	}
	routes := api.Tag(a, "Acts")
	api.Delete(routes, "/things/{id}", "dropThing", "Drop", change, api.Groups("pay-admin"))
	api.Effect(routes, http.MethodPost, "/own/{id}", "changeOwn", "Change", http.StatusNoContent, change, api.Acted)
	api.Effect(routes, http.MethodPost, "/other/{id}", "changeOther", "Change", http.StatusNoContent, change)
	api.Get[struct{}](routes, "/things/{id}", "getThing", "Get", func(context.Context, auth.Principal, path) (struct{}, error) {
		return struct{}{}, nil
	}, api.Groups("pay-admin"))
}

// TestActsAreRecordedWithTheirChange: a change by staff and its record are one transaction; rejections are recorded on their own. Other users' requests and
// reads are not recorded. A change that cannot be recorded does not happen.
func TestActsAreRecordedWithTheirChange(t *testing.T) {
	t.Parallel()
	broken := errors.New("the table does not respond")
	const changed, alone = "TransactWriteItems", "PutItem"
	for name, c := range map[string]struct {
		method, path, group string
		fail                string
		status              int
		writes              []string
		recorded            int    // status; 0 for no record
		target              string // "" for the request's own
		user                string // user in the table afterwards
	}{
		"staff":                         {"DELETE", "/things/a%2Fb%20c", "pay-admin", "", 204, []string{changed}, 204, "", "a"},
		"a refusal":                     {"DELETE", "/things/none", "pay-admin", "", 404, []string{alone}, 404, "", ""},
		"nothing to change":             {"DELETE", "/things/same", "pay-admin", "", 204, []string{alone}, 204, "", ""},
		"nobody of the staff":           {"DELETE", "/things/a", "pay-guest", "", 403, nil, 0, "", ""},
		"staff reads":                   {"GET", "/things/a", "pay-admin", "", 200, nil, 0, "", ""},
		"staff, where users may, too":   {"POST", "/own/a", "pay-admin", "", 204, []string{changed}, 204, "", "a"},
		"a user, where staff may, too":  {"POST", "/own/a", "", "", 204, []string{"UpdateItem"}, 0, "", "a"},
		"staff as a user":               {"POST", "/other/a", "pay-admin", "", 204, []string{"UpdateItem"}, 0, "", "a"},
		"its change and record fail":    {"DELETE", "/things/a", "pay-admin", changed, 500, []string{changed, alone}, 500, "", ""},
		"a refusal cannot be recorded":  {"DELETE", "/things/none", "pay-admin", alone, 404, []string{alone}, 0, "", ""},
		"done, with another response":   {"DELETE", "/things/lost", "pay-admin", "", 500, []string{changed, alone}, 500, "", "l"},
		"a second write is not allowed": {"DELETE", "/things/twice", "pay-admin", "", 500, []string{changed, alone}, 500, "", "t"},
		"a long path": {
			"DELETE", "/things/" + strings.Repeat("x", 1000), "pay-admin", "", 204, []string{changed}, 204, "DELETE /things/" + strings.Repeat("x", 400-len("DELETE /things/")), "x",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := openLedger(t)
			s := serve(t, func(o *api.Options) {
				o.Acts, o.Staff, o.Clock = api.KeepActs(l.Op.KeepAct, l.Tx), "pay-admin", func() time.Time { return actsMoment }
			})
			a, ok := s.Config.Handler.(*api.API)
			if !ok {
				t.Fatal("the server serves another thing")
			}
			l.actRoutes(a)
			l.fail = map[string]error{c.fail: broken}
			r := httptest.NewRequestWithContext(t.Context(), c.method, "/pay"+c.path, http.NoBody)
			r.Header.Set("Authorization", s.token(t, c.group))
			r.Header.Set("X-Request-Id", gatewayID)
			w := httptest.NewRecorder()
			a.ServeHTTP(w, r)
			if diff := cmp.Diff(c.writes, l.writes); w.Code != c.status || diff != "" {
				t.Errorf("%d, want %d; writes: %s", w.Code, c.status, diff)
			}
			if c.target == "" {
				c.target = c.method + " " + c.path
			}
			switch acts := l.acts(t); {
			case c.recorded == 0 && len(acts) > 0 || c.recorded != 0 && len(acts) != 1:
				t.Errorf("%d acts are recorded", len(acts))
			case c.recorded != 0:
				act := acts[0]
				if act.ActorID != "u-1" || !strings.HasPrefix(act.RequestID, gatewayID+"/") || act.Target != c.target || *act.Status != int64(c.recorded) || !act.At.Equal(actsMoment.Truncate(time.Millisecond)) {
					t.Errorf("the record is %+v, status %d; want %s, %d", act, *act.Status, c.target, c.recorded)
				}
			}
			for _, user := range []string{"a", "l", "t", "x", "second"} {
				if _, err := l.Profile(t.Context(), appcoredb.ProfileInput{UserID: user}); (err == nil) != (user == c.user) {
					t.Errorf("user %s: %v", user, err)
				}
			}
			if logged := strings.Contains(s.log.String(), "the outcome of a staff request was not recorded"); logged != (c.fail == alone) {
				t.Errorf("a lost record was logged: %v", logged)
			}
		})
	}
}

// TestActsWithOneRequestID: staff cannot hide an act by sending another request with the same id in the same millisecond.
func TestActsWithOneRequestID(t *testing.T) {
	t.Parallel()
	l := openLedger(t)
	s := serve(t, func(o *api.Options) {
		o.Acts, o.Staff, o.Clock = api.KeepActs(l.Op.KeepAct, l.Tx), "pay-admin", func() time.Time { return actsMoment }
	})
	a, ok := s.Config.Handler.(*api.API)
	if !ok {
		t.Fatal("the server serves another thing")
	}
	l.actRoutes(a)
	for _, id := range []string{"a", "t", "none"} {
		s.do(t, http.MethodDelete, "/pay/things/"+id, "", "Authorization", s.token(t, "pay-admin"), "X-Request-Id", strings.Repeat("x", 64))
	}
	if acts := l.acts(t); len(acts) != 3 {
		t.Errorf("%d of 3 acts are recorded: %+v", len(acts), acts)
	}
}
