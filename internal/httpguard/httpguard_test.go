package httpguard

import (
	"net/http"
	"strings"
	"testing"
)

func TestHosts(t *testing.T) {
	plain := new(Guard)
	configured, err := New([]string{"DB.example.com.", "*.corp.example"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]struct{ plain, configured bool }{
		"":                         {true, true},
		"127.0.0.1":                {true, true},
		"127.0.0.1:8000":           {true, true},
		"192.168.1.4:8000":         {true, true},
		"8.8.8.8":                  {true, true},
		"[::1]":                    {true, true},
		"[::1]:8000":               {true, true},
		"[fe80::1%25eth0]:8000":    {true, true},
		"localhost":                {true, true},
		"LocalHost.:8000":          {true, true},
		"app.localhost:8000":       {true, true},
		"db":                       {true, true},
		"dynamodb_local:8000":      {true, true},
		"host.docker.internal":     {true, true},
		"Host.Docker.Internal.:80": {true, true},
		"db.example.com":           {false, true},
		"DB.EXAMPLE.COM.:8000":     {false, true},
		"db.corp.example":          {false, true},
		"a.db.corp.example:1":      {false, true},

		"corp.example":              {false, false},
		"notcorp.example":           {false, false},
		"example.com":               {false, false},
		"a.db.example.com":          {false, false},
		"db.example.com.evil.org":   {false, false},
		"evil.org":                  {false, false},
		"evil.org.:8000":            {false, false},
		"localhost.evil.org":        {false, false},
		"evillocalhost.org":         {false, false},
		"evil.org:localhost":        {false, false},
		"127.0.0.1.nip.io":          {false, false},
		"evil.org@localhost":        {false, false},
		"evil.org/.localhost":       {false, false},
		"x.evil.org?.corp.example":  {false, false},
		"..":                        {false, false},
		".localhost":                {false, false},
		"[::1":                      {false, false},
		"[localhost]x:1":            {false, false},
		"0x7f.0.0.1":                {false, false},
		"dynamodb.us-east-1.aws.io": {false, false},
	} {
		if got := plain.AllowsHost(host); got != want.plain {
			t.Errorf("%q: allowed %t, want %t", host, got, want.plain)
		}
		if got := configured.AllowsHost(host); got != want.configured {
			t.Errorf("%q: allowed %t where names are allowed, want %t", host, got, want.configured)
		}
	}
}

func TestOrigins(t *testing.T) {
	listed, err := New(nil, []string{"https://app.example.com", "http://localhost:3000"})
	if err != nil {
		t.Fatal(err)
	}
	everyone, err := New(nil, []string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		origin       string
		plain        bool
		listed, star string // Access-Control-Allow-Origin
	}{
		{"", true, "", ""},
		{"http://db:8000", true, "", "*"}, // the server's own
		{"https://app.example.com", false, "https://app.example.com", "*"},
		{"http://localhost:3000", false, "http://localhost:3000", "*"},
		{"http://app.example.com", false, "", "*"},
		{"https://app.example.com:8443", false, "", "*"},
		{"https://app.example.com.evil.org", false, "", "*"},
		{"https://evil.org", false, "", "*"},
		{"http://db", false, "", "*"},
		{"http://db:8001", false, "", "*"},
		{"null", false, "", "*"},
		{"db:8000", false, "", "*"},
	} {
		r := &http.Request{Host: "db:8000", Header: http.Header{}}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if got := new(Guard).AllowsOrigin(r); got != c.plain {
			t.Errorf("%q: allowed %t, want %t", c.origin, got, c.plain)
		}
		if got := new(Guard).CORSOrigin(r); got != "" {
			t.Errorf("%q: a guard without origins grants CORS to %q", c.origin, got)
		}
		for name, want := range map[string]struct {
			guard *Guard
			value string
		}{"listed": {listed, c.listed}, "any": {everyone, c.star}} {
			if got := want.guard.CORSOrigin(r); got != want.value {
				t.Errorf("%q, %s: Access-Control-Allow-Origin %q, want %q", c.origin, name, got, want.value)
			}
			if got, allowed := want.guard.AllowsOrigin(r), c.plain || want.value != ""; got != allowed {
				t.Errorf("%q, %s: allowed %t, want %t", c.origin, name, got, allowed)
			}
		}
	}
}

func TestNewRejectsPatternsThatNeverMatch(t *testing.T) {
	for _, host := range []string{"", "*", "*.", "db.example.com:8000", "http://db.example.com", "a..b", "*.a.*", "[::1]"} {
		if _, err := New([]string{host}, nil); err == nil || !strings.Contains(err.Error(), "want a name such as") {
			t.Errorf("allowed host %q: %v", host, err)
		}
	}
	for _, origin := range []string{"", "null", "app.example.com", "https://app.example.com/", "https://App.example.com", "https://a.b/c", "https://", "*.example.com", "https://*.wild.com", "https://u@a.b"} {
		if _, err := New(nil, []string{origin}); err == nil || !strings.Contains(err.Error(), "want an origin such as") {
			t.Errorf("origin %q: %v", origin, err)
		}
	}
}
