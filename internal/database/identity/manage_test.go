package identity

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

const (
	anyPolicy = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`
	anyTrust  = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}}`
)

// TestManage: what a request that is refused says, and that it changes nothing.
func TestManage(t *testing.T) {
	now := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	d, err := Open(t.Context(), Options{Store: memkv.New(), Account: "123456789012", Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	must := func(r Request) Result {
		t.Helper()
		result, err := d.Manage(t.Context(), &r)
		if err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		return result
	}
	must(Request{Action: "policy create", Name: "all", Document: anyPolicy})
	must(Request{Action: "user create", Name: "ana", Policies: []string{"all"}})
	must(Request{Action: "role create", Name: "loader", Trust: anyTrust, Boundary: "all"})
	first := must(Request{Action: "key create", User: "ana"}).Keys[0]
	must(Request{Action: "key rotate", Name: first.ID, Grace: time.Hour})
	before := state(t, d)
	for _, c := range []struct {
		r    Request
		want string
	}{
		{Request{Action: "user rename"}, `unknown action "user rename"`},
		{Request{Action: "user create", Name: "ana"}, "there is a user ana"},
		{Request{Action: "user create", Name: "a/b"}, `"a/b" is not a valid name of a user: want up to 64 letters, digits and any of +=,.@_-`},
		{Request{Action: "user create", Name: "bob", Policies: []string{"none"}}, "there is no policy none"},
		{Request{Action: "user create", Name: "bob", Boundary: "none"}, "there is no policy none"},
		{Request{Action: "user create", Name: "bob", Tags: map[string]string{"Team": "blue", "team": "red"}}, `there are two tags "team": their keys must differ in more than case`},
		{Request{Action: "role create", Name: "other", Trust: anyTrust, Tags: map[string]string{"Team": "blue", "TEAM": "red"}}, `there are two tags "Team"`},
		{Request{Action: "user show", Name: "bob"}, "there is no user bob"},
		{Request{Action: "key list", User: "bob"}, "there is no user bob"},
		{Request{Action: "user delete", Name: "bob"}, "there is no user bob"},
		{Request{Action: "role create", Name: "loader", Trust: anyTrust}, "there is a role loader"},
		{Request{Action: "role create", Name: "other", Trust: "{}"}, "trust policy: "},
		{Request{Action: "role create", Name: "other", Trust: anyTrust, MaxSession: time.Minute}, "the longest session is 1m0s: want from 1h to 12h"},
		{Request{Action: "policy create", Name: "other", Document: "{"}, "policy document: Syntax errors in policy."},
		{Request{Action: "policy delete", Name: "all"}, "policy all is attached to arn:aws:iam::123456789012:user/ana, arn:aws:iam::123456789012:role/loader: detach it first"},
		{Request{Action: "policy delete", Name: "none"}, "there is no policy none"},
		{Request{Action: "policy attach", Name: "all"}, "a policy is attached to a user or a role: name exactly one of them"},
		{Request{Action: "policy attach", Name: "all", User: "bob"}, "there is no user bob"},
		{Request{Action: "policy attach", Name: "all", Role: "none"}, "there is no role none"},
		{Request{Action: "key create", User: "bob"}, "there is no user bob"},
		{Request{Action: "key create", User: "ana"}, "user ana already has 2 access keys, the maximum: delete one first"},
		{Request{Action: "key rotate", Name: first.ID, Grace: -1}, "the grace period cannot be negative"},
		{Request{Action: "key rotate", Name: first.ID, Grace: time.Hour}, "user ana has another access key: delete it first, or rotate without a grace period"},
		{Request{Action: "key delete", Name: "AKIANONE"}, "there is no access key AKIANONE"},
	} {
		if _, err := d.Manage(t.Context(), &c.r); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.r, err, c.want)
		}
	}
	if after := state(t, d); after != before {
		t.Errorf("%s\nbecame\n%s", before, after)
	}

	now = now.Add(time.Hour) // the first key is over, and makes room
	ana := must(Request{Action: "user show", Name: "ana"}).Users[0].Keys
	if keys := must(Request{Action: "key list"}).Keys; keys[0].Status != "expired" || ana[0].Status != "expired" || keys[1].Status != "active" {
		t.Errorf("%+v, %+v", keys, ana)
	}
	third := must(Request{Action: "key create", User: "ana"}).Keys[0]
	must(Request{Action: "key delete", Name: third.ID})
	second := d.view.Load().shownKeys()[0]
	must(Request{Action: "key rotate", Name: second.ID, Grace: time.Hour})
	if keys := d.view.Load().shownKeys(); len(keys) != 2 || keys[0].ID != second.ID || keys[0].Expires.IsZero() {
		t.Errorf("%+v", keys)
	}
	must(Request{Action: "policy detach", Name: "all", User: "ana"})
	must(Request{Action: "role delete", Name: "loader"})
	must(Request{Action: "policy delete", Name: "all"})
	must(Request{Action: "user delete", Name: "ana"})
	if left := state(t, d); left != "{[] [] [] []}" {
		t.Error(left)
	}
}

// remote is a store whose reads end with their context, like those over a network.
type remote struct{ kv.Store }

func (s remote) Iter(ctx context.Context, lo, hi []byte, o kv.IterOptions) (kv.Iterator, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.Store.Iter(ctx, lo, hi, o)
}

// TestInterruptedChange: a change whose sender does not wait for the response takes effect, if it has been stored.
func TestInterruptedChange(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	now := time.Now
	d, err := Open(t.Context(), Options{Store: remote{memkv.New()}, Account: "123456789012", Now: func() time.Time { return now() }})
	if err != nil {
		t.Fatal(err)
	}
	key, err := d.Manage(t.Context(), &Request{Action: "key create"})
	if err != nil {
		t.Fatal(err)
	}
	now = func() time.Time {
		interrupt()
		return time.Now()
	}
	compromised := key.Keys[0].ID
	if _, err := d.Manage(ctx, &Request{Action: "key rotate", Name: compromised}); err != nil || ctx.Err() == nil {
		t.Error(err, ctx.Err())
	}
	if v := d.view.Load(); v.keys[compromised] != nil || len(v.keys) != 1 {
		t.Errorf("the key before the rotation is still accepted: %v", v.shownKeys())
	}
}

// state is all that is shown.
func state(t *testing.T, d *Directory) string {
	t.Helper()
	v := d.view.Load()
	return fmt.Sprint(Result{v.shownUsers(), v.shownRoles(), v.shownPolicies(), v.shownKeys()})
}
