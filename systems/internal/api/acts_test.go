package api_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

// begun and ended are the inputs of the design's writes.
type begun struct {
	Day, RequestID, ActorID, Operation, Target string
	At                                         time.Time
	Status                                     *int64
}

type ended struct {
	Day, RequestID string
	At             time.Time
	Status         *int64
}

// TestActs: a change by staff is recorded before it runs, with its response; other users' requests and reads are not. What cannot
// be recorded does not run.
func TestActs(t *testing.T) {
	t.Parallel()
	var done []string // everything that happens, in order
	fault := map[string]error{}
	keep := api.KeepActs(
		func(_ context.Context, in begun) (struct{}, error) {
			if in.Status != nil || in.Day != "2026-11-23" || !in.At.Equal(time.Date(2026, 11, 23, 23, 59, 59, 123e6, time.UTC)) {
				t.Errorf("an act begins as %+v", in)
			}
			done = append(done, "begin "+in.ActorID+" "+in.Operation+" "+in.Target+" "+in.RequestID)
			return struct{}{}, fault["begin"]
		},
		func(_ context.Context, in ended) (struct{}, error) {
			done = append(done, "end "+in.RequestID+" "+http.StatusText(int(*in.Status)))
			return struct{}{}, fault["end"]
		})
	s := serve(t, func(o *api.Options) {
		o.Acts, o.Staff = keep, "pay-admin"
		o.Clock = func() time.Time { return time.Date(2026, 11, 23, 23, 59, 59, 123456789, time.UTC) }
	})
	a, ok := s.Config.Handler.(*api.API)
	if !ok {
		t.Fatal("the server serves another thing")
	}
	routes := api.Tag(a, "Acts")
	type path struct {
		ID string `path:"id"`
	}
	do := func(_ context.Context, _ auth.Principal, in path) error {
		done = append(done, "done "+in.ID)
		if in.ID == "none" {
			return problem.NotFound("", "there is none")
		}
		return nil
	}
	api.Delete(routes, "/things/{id}", "dropThing", "Drop", do, api.Groups("pay-admin"))
	api.Effect(routes, http.MethodPost, "/own/{id}", "changeOwn", "Change", http.StatusNoContent, do, api.Acted)
	api.Effect(routes, http.MethodPost, "/other/{id}", "changeOther", "Change", http.StatusNoContent, do)
	api.Get[struct{}](routes, "/things/{id}", "getThing", "Get", func(ctx context.Context, who auth.Principal, in path) (struct{}, error) {
		return struct{}{}, do(ctx, who, in)
	}, api.Groups("pay-admin"))

	for _, c := range []struct {
		name, method, path, group, fault string
		status                           int
		want                             []string
	}{
		{"staff", "DELETE", "/things/a%2Fb%20c", "pay-admin", "", 204, []string{"begin u-1 dropThing DELETE /things/a%2Fb%20c R", "done a/b c", "end R No Content"}},
		{"a refusal", "DELETE", "/things/none", "pay-admin", "", 404, []string{"begin u-1 dropThing DELETE /things/none R", "done none", "end R Not Found"}},
		{"nobody of the staff", "DELETE", "/things/a", "pay-guest", "", 403, nil},
		{"staff reads", "GET", "/things/a", "pay-admin", "", 200, []string{"done a"}},
		{"staff, where users may, too", "POST", "/own/a", "pay-admin", "", 204, []string{"begin u-1 changeOwn POST /own/a R", "done a", "end R No Content"}},
		{"a user, where staff may, too", "POST", "/own/a", "", "", 204, []string{"done a"}},
		{"staff as a user", "POST", "/other/a", "pay-admin", "", 204, []string{"done a"}},
		{"it cannot be kept", "DELETE", "/things/a", "pay-admin", "begin", 500, []string{"begin u-1 dropThing DELETE /things/a R"}},
		{"its answer cannot be kept", "DELETE", "/things/a", "pay-admin", "end", 204, []string{"begin u-1 dropThing DELETE /things/a R", "done a", "end R No Content"}},
		{"a long path", "DELETE", "/things/" + strings.Repeat("x", 1000), "pay-admin", "", 204, []string{
			"begin u-1 dropThing DELETE /things/" + strings.Repeat("x", 400-len("DELETE /things/")) + " R", "done " + strings.Repeat("x", 1000), "end R No Content",
		}},
	} {
		done, fault = nil, map[string]error{}
		if c.fault != "" {
			fault[c.fault] = errors.New("the table does not answer")
		}
		var groups []string
		if c.group != "" {
			groups = append(groups, c.group)
		}
		r := httptest.NewRequestWithContext(t.Context(), c.method, "/pay"+c.path, http.NoBody)
		r.Header.Set("Authorization", s.token(t, groups...))
		r.Header.Set("X-Request-Id", "R")
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if diff := cmp.Diff(c.want, done); w.Code != c.status || diff != "" {
			t.Errorf("%s: %d, want %d; %s", c.name, w.Code, c.status, diff)
		}
		if told := strings.Contains(s.log.String(), "the outcome of a staff request was not recorded"); told != (c.fault == "end") && !slices.Contains([]string{"a long path"}, c.name) {
			t.Errorf("%s: the log tells of a lost answer: %v", c.name, told)
		}
	}
}
