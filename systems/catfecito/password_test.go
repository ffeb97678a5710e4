package catfecito

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/databasetest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/system"
)

// cheap is the lowest cost.
var cheap = Cost{Passes: 1, MemoryKiB: 8, Lanes: 1} //nolint:gochecknoglobals // a constant

func TestPassword(t *testing.T) {
	t.Parallel()
	p := newPasswords(cheap)
	hash, err := p.hash(t.Context(), "café con leche")
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.hash(t.Context(), "café con leche")
	if err != nil {
		t.Fatal(err)
	}
	if hash == again {
		t.Error("two hashes of one password are the same: there is no salt")
	}
	if text := hash.Reveal(); !strings.HasPrefix(text, "$argon2id$v=19$m=8,t=1,p=1$") || strings.Contains(text, "caf") {
		t.Errorf("the hash is %s", text)
	}
	if shown := fmt.Sprintf("%v %s %+v %#v", hash, hash, struct{ table.Secret }{hash}, hash); strings.Contains(shown, "argon2id") {
		t.Errorf("a hash shows as %s", shown)
	}
	costlier := newPasswords(Cost{Passes: 2, MemoryKiB: 16, Lanes: 2})
	for password, want := range map[string]bool{
		"café con leche": true, "cafe\u0301 con leche": true, "cafe con leche": false, "Café con leche": false, "": false, "café con leche ": false,
	} {
		for _, by := range []*passwords{p, costlier} { // a hash is checked at its own cost
			if got, err := by.match(t.Context(), password, hash); err != nil || got != want {
				t.Errorf("%q is the password: %v (%v), want %v", password, got, err, want)
			}
		}
	}
}

// TestUnknownUserTakesSameWork: checking an unknown user's password takes the same work as for any user, and no password matches.
func TestUnknownUserTakesSameWork(t *testing.T) {
	t.Parallel()
	p := newPasswords(cheap)
	cost, _, _, err := argon2id.DecodeHash(p.unknownUserHash.Reveal())
	if err != nil || *cost != p.cost {
		t.Errorf("the hash for unknown users costs %+v (%v), want %+v", cost, err, p.cost)
	}
	for _, password := range []string{"", "nobody", p.unknownUserHash.Reveal()} {
		if same, err := p.match(t.Context(), password, p.unknownUserHash); err != nil || same {
			t.Errorf("%q is accepted for an unknown user (%v)", password, err)
		}
	}
	if p.unknownUserHash == newPasswords(cheap).unknownUserHash {
		t.Error("the hash for unknown users is the same in two processes")
	}
}

// TestHashes: an invalid hash is rejected, and does not crash the process.
func TestHashes(t *testing.T) {
	t.Parallel()
	p := newPasswords(cheap)
	good, err := p.hash(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{"argon2id", "argon2i"},
		{"v=19", "v=16"},
		{"t=1", "t=0"},
		{"p=1", "p=0"},
		{"m=8", "m=x"},
		{"$m", "$$m"},
		{good.Reveal(), ""},
		{good.Reveal(), "$2a$10$abc"},
		{good.Reveal()[len(good.Reveal())-2:], ""},
		{good.Reveal()[len(good.Reveal())-2:], "!!"},
	} {
		bad := table.Secret(strings.Replace(good.Reveal(), change[0], change[1], 1))
		if same, err := p.match(t.Context(), "p", bad); !errors.Is(err, errHash) || same {
			t.Errorf("%s: %v, %v; want it refused", bad.Reveal(), same, err)
		}
	}
}

// TestHashingIsLimited: at most one hash per processor is computed at a time, and waiting ends with the request.
func TestHashingIsLimited(t *testing.T) {
	t.Parallel()
	p := newPasswords(cheap)
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.hash(ctx, "p"); !errors.Is(err, context.Canceled) {
		t.Errorf("with all slots taken: %v, want the context's end", err)
	}
	<-p.slots
	if _, err := p.hash(t.Context(), "p"); err != nil {
		t.Error(err)
	}
}

// TestSamplePassword: sample users can log in.
func TestSamplePassword(t *testing.T) {
	t.Parallel()
	if same, err := newPasswords(cheap).match(t.Context(), SamplePassword, sampleHash); err != nil || !same {
		t.Errorf("%q is the sample's password: %v (%v)", SamplePassword, same, err)
	}
	want := newPasswords(DefaultCost()).cost
	if cost, _, _, err := argon2id.DecodeHash(sampleHash.Reveal()); err != nil || *cost != want {
		t.Errorf("the sample's hash costs %+v (%v), want %+v", cost, err, want)
	}
}

// process opens the service as another process would, on the same table.
func process(t *testing.T, database databasetest.Database, observe func(table.Call)) *service {
	t.Helper()
	now := time.Now()
	clock := func() time.Time { return now }
	c := config("test")
	c.Clock, c.Observe = clock, func(_ context.Context, call table.Call) { observe(call) }
	db, err := catfecitodb.New(database.DynamoDB, c)
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := auth.NewIssuer(Name, "http://issuer.test", clock)
	if err != nil {
		t.Fatal(err)
	}
	return &service{db: db, now: clock, issuer: issuer, passwords: newPasswords(cheap), bounds: newBounds(clock)}
}

// TestOwnUserRequests: with a session, getting one's own user reads only the session and the user.
func TestOwnUserRequests(t *testing.T) {
	t.Parallel()
	database := databasetest.Open(t)
	database.Create(t, tables("test"))
	var requests atomic.Int64
	s := process(t, database, func(c table.Call) { requests.Add(int64(c.Requests)) })
	u, _, err := s.signUp(t.Context(), auth.Principal{}, api.KeyedBody[UserInput]{Keyed: api.Keyed{RequestKey: "k"}, Body: UserInput{"ana@mail.com", "Ana", "un café con leche"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.logIn(t.Context(), auth.Principal{}, logInRequest{Body: LogInInput{"ana@mail.com", "un café con leche"}}); err != nil {
		t.Fatal(err)
	}
	sessions, err := s.db.SessionsOfUser(t.Context(), catfecitodb.SessionsOfUserInput{UserID: u.UserID}, table.PageOptions{})
	if err != nil || len(sessions.Items) != 1 {
		t.Fatalf("%d sessions (%v), want one", len(sessions.Items), err)
	}
	requests.Store(0)
	who, err := s.admit(t.Context(), auth.Principal{Sub: u.UserID, Session: sessions.Items[0].SessionID})
	if err != nil {
		t.Fatal(err)
	}
	own, err := s.ownUser(t.Context(), who, api.None{})
	if err != nil || own.UserID != u.UserID || requests.Load() != 2 {
		t.Errorf("%+v (%v) after %d requests, want the user after 2", own, err, requests.Load())
	}
}

// TestLogInRequests: an unknown address takes as many requests as a known one, and all processes share one limit.
func TestLogInRequests(t *testing.T) {
	t.Parallel()
	database := databasetest.Open(t)
	database.Create(t, tables("test"))
	requests := 0
	processes := []*service{process(t, database, func(c table.Call) { requests += c.Requests }), process(t, database, func(c table.Call) { requests += c.Requests })}
	if _, _, err := processes[0].signUp(t.Context(), auth.Principal{}, api.KeyedBody[UserInput]{Keyed: api.Keyed{RequestKey: "k"}, Body: UserInput{"ana@mail.com", "Ana", "un café con leche"}}); err != nil {
		t.Fatal(err)
	}
	for _, email := range []string{"ana@mail.com", "nobody@mail.com"} {
		for i := range triesMost {
			requests = 0
			if _, err := processes[i%2].logIn(t.Context(), auth.Principal{}, logInRequest{Body: LogInInput{email, "wrong"}}); !errors.Is(err, errWrongLogIn) {
				t.Fatalf("%s, try %d: %v", email, i, err)
			}
			if requests != 4 { // the marker, the user, the hash, the count of attempts
				t.Errorf("for %s there were %d requests, want 4", email, requests)
			}
		}
		for i, s := range processes {
			_, err := s.logIn(t.Context(), auth.Principal{}, logInRequest{Body: LogInInput{email, "un café con leche"}})
			refused, ok := errors.AsType[*problem.Error](err)
			if !ok || refused.Status != http.StatusTooManyRequests || refused.RetryAfter <= 0 || refused.RetryAfter > triesWindow {
				t.Errorf("%s, one try too many of process %d: %+v", email, i, refused)
			}
		}
	}
}

// TestWithoutIssuer: with a user pool, the shop itself offers no sign-up or log-in.
func TestWithoutIssuer(t *testing.T) {
	t.Parallel()
	database := databasetest.Open(t)
	database.Create(t, tables("test"))
	opened, err := open(Options{}, system.Deps{DynamoDB: database.DynamoDB, Stage: "test", Clock: time.Now, Getenv: func(string) string { return "" }})
	if err != nil || opened.Register == nil {
		t.Fatal(err)
	}
	s := &service{}
	if _, _, err := s.signUp(t.Context(), auth.Principal{}, api.KeyedBody[UserInput]{}); !errors.Is(err, errLogInElsewhere) {
		t.Errorf("sign-up: %v", err)
	}
	if _, err := s.logIn(t.Context(), auth.Principal{}, logInRequest{}); !errors.Is(err, errLogInElsewhere) {
		t.Errorf("log-in: %v", err)
	}
}
