package appcore_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

const (
	ana   = "u-123"
	bruno = "u-456"
	// nowhere is a well-formed ULID of nothing.
	nowhere = "01HM699R7006AFVGQT5ZYC0GEK"
)

// TestRoutes calls every operation with valid and invalid input over each transport.
func TestRoutes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, appcore.System(appcore.Options{}), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		routes(t, v)
	})
}

// routes calls every operation with valid and invalid input.
func routes(t *testing.T, v *apitest.Server) {
	t.Helper()
	t.Run("profile", func(t *testing.T) { v.Run(t, profileCases()) })
	t.Run("transactions", func(t *testing.T) { transactionRoutes(t, v) })
	t.Run("notifications", func(t *testing.T) { notificationRoutes(t, v) })
	t.Run("operation", func(t *testing.T) { operationRoutes(t, v) })
	t.Run("events", func(t *testing.T) { eventRoutes(t, v) })
	t.Run("data", func(t *testing.T) {
		create(t, v, "u-789", "unsettled", 5)
		v.Run(t, []apitest.Case{{
			Name: "unsettled", Status: http.StatusConflict, Code: "transactions_pending",
			Request: apitest.Request{Method: http.MethodDelete, Path: "/me", As: "u-789", Header: map[string]string{"Confirm": "erase"}},
		}})
		v.Person(t, apitest.Person{As: ana, Design: "appcore.design.yaml", Entities: []string{"User", "Transaction", "Notification"}})
	})
	v.Covered(t)
}

// TestUnauthenticatedRequestsAreRejected: without a valid token nothing is accessible.
func TestUnauthenticatedRequestsAreRejected(t *testing.T) {
	t.Parallel()
	apitest.Each(t, appcore.System(appcore.Options{}), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		v.RejectsUnauthenticated(t)
	})
}

func profileCases() []apitest.Case {
	put := func(body any) apitest.Request {
		return apitest.Request{Method: http.MethodPut, Path: "/me", As: ana, Body: body}
	}
	invalid := func(name string, body any, field string) apitest.Case {
		return apitest.Case{Name: name, Request: put(body), Status: http.StatusBadRequest, Code: problem.CodeInvalidBody, Field: field}
	}
	expect := func(email, name string) func(testing.TB, *apitest.Response) {
		return func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var p appcore.Profile
			if r.JSON(tb, &p); p.UserID != ana || p.Email != email || p.Name != name || p.CreatedAt.IsZero() {
				tb.Errorf("profile %+v, want %s's with %s and %s", p, ana, email, name)
			}
		}
	}
	get := apitest.Request{Method: http.MethodGet, Path: "/me", As: ana}
	return []apitest.Case{
		{Name: "none yet", Request: get, Status: http.StatusNotFound, Code: problem.CodeNotFound},
		{Name: "made", Request: put(map[string]any{"email": "ana@mail.com", "name": "Ana"}), Status: http.StatusOK, Check: expect("ana@mail.com", "Ana")},
		{Name: "read", Request: get, Status: http.StatusOK, Check: expect("ana@mail.com", "Ana")},
		{Name: "changed", Request: put(map[string]any{"email": "ana.garcia@mail.com", "name": "Ana García"}), Status: http.StatusOK, Check: expect("ana.garcia@mail.com", "Ana García")},
		{Name: "another's is another", Request: apitest.Request{Method: http.MethodGet, Path: "/me", As: bruno}, Status: http.StatusNotFound, Code: problem.CodeNotFound},
		{Name: "a user with a long name", Request: apitest.Request{Method: http.MethodGet, Path: "/me", As: strings.Repeat("u", 129)}, Status: http.StatusBadRequest, Code: problem.CodeInvalidValue},
		{Name: "a user whose name would end a key", Request: apitest.Request{Method: http.MethodGet, Path: "/me", As: "u#1"}, Status: http.StatusBadRequest, Code: problem.CodeInvalidValue},
		invalid("no JSON", "{", ""),
		invalid("no body", nil, ""),
		invalid("no email", map[string]any{"name": "Ana"}, "body"),
		invalid("no address", map[string]any{"email": "ana", "name": "Ana"}, "body.email"),
		invalid("long address", map[string]any{"email": strings.Repeat("a", 250) + "@mail.com", "name": "Ana"}, "body.email"),
		invalid("empty name", map[string]any{"email": "ana@mail.com", "name": ""}, "body.name"),
		invalid("long name", map[string]any{"email": "ana@mail.com", "name": strings.Repeat("ñ", 101)}, "body.name"),
		invalid("blank name", map[string]any{"email": "ana@mail.com", "name": " \u0020"}, "body.name"),
		invalid("name with a control character", map[string]any{"email": "ana@mail.com", "name": "Ana\x00"}, "body.name"),
		invalid("name of two lines", map[string]any{"email": "ana@mail.com", "name": "Ana\nGarcía"}, "body.name"),
		invalid("name of another type", map[string]any{"email": "ana@mail.com", "name": 1}, "body.name"),
		invalid("member in another case", `{"email":"ana@mail.com","name":"Ana","NAME":"`+strings.Repeat("n", 101)+`"}`, "body.NAME"),
		invalid("unknown field", map[string]any{"email": "ana@mail.com", "name": "Ana", "userId": bruno}, "body.userId"),
		{Name: "still as it was", Request: get, Status: http.StatusOK, Check: expect("ana.garcia@mail.com", "Ana García")},
	}
}

// create creates a transaction for a user and returns it.
func create(tb testing.TB, v *apitest.Server, sub, key string, amount int64) appcore.Transaction {
	tb.Helper()
	response := v.Do(tb, apitest.Request{
		Method: http.MethodPost, Path: "/transactions", As: sub, Key: key, Body: map[string]any{"amount": amount, "currency": "ARS"},
	})
	if response.Status != http.StatusCreated {
		tb.Fatalf("create: %d %s", response.Status, response.Body)
	}
	var tx appcore.Transaction
	response.JSON(tb, &tx)
	return tx
}

func transactionRoutes(t *testing.T, v *apitest.Server) {
	t.Helper()
	v.Run(t, createCases(t))
	tx := create(t, v, ana, "routes", 500)
	get := func(sub, id string) apitest.Request {
		return apitest.Request{Method: http.MethodGet, Path: "/transactions/" + id, As: sub}
	}
	list := func(query string) apitest.Request {
		return apitest.Request{Method: http.MethodGet, Path: "/transactions" + query, As: ana}
	}
	badQuery := func(name, query, field string) apitest.Case {
		return apitest.Case{Name: name, Request: list(query), Status: http.StatusBadRequest, Code: problem.CodeInvalidParameter, Field: field}
	}
	v.Run(t, []apitest.Case{
		{Name: "own", Request: get(ana, tx.TxID), Status: http.StatusOK},
		{Name: "somebody else's", Request: get(bruno, tx.TxID), Status: http.StatusForbidden, Code: problem.CodeForbidden},
		{Name: "nobody's", Request: get(ana, nowhere), Status: http.StatusNotFound, Code: problem.CodeNotFound},
		{Name: "no ULID", Request: get(ana, "tx-abc"), Status: http.StatusBadRequest, Code: problem.CodeInvalidParameter, Field: "path.id"},
		{Name: "small letters", Request: get(ana, strings.ToLower(tx.TxID)), Status: http.StatusBadRequest, Code: problem.CodeInvalidParameter, Field: "path.id"},
		{Name: "list", Request: list(""), Status: http.StatusOK},
		badQuery("no limit", "?limit=0", "query.limit"),
		badQuery("high limit", "?limit=101", "query.limit"),
		badQuery("limit of another type", "?limit=ten", "query.limit"),
		badQuery("no time", "?from=yesterday", "query.from"),
		badQuery("no time zone", "?to=2025-02-01T00:00:00", "query.to"),
		badQuery("a day that is none", "?to=2025-02-30T00:00:00Z", "query.to"),
		badQuery("a year that keys do not hold", "?from=9999-12-31T23:59:59-12:00", "query.from"),
		badQuery("a year before years", "?to=0000-01-01T00:00:00%2B12:00", "query.to"),
		badQuery("end before begin", "?from=2025-02-01T00:00:00Z&to=2025-01-01T00:00:00Z", "query.to"),
		badQuery("long cursor", "?cursor="+strings.Repeat("A", 5000), "query.cursor"),
		{Name: "made-up cursor", Request: list("?cursor=AQ"), Status: http.StatusBadRequest, Code: problem.CodeInvalidCursor},
		{Name: "global", Request: apitest.Request{Method: http.MethodGet, Path: "/transactions/global", As: bruno}, Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			if text := string(r.Body); strings.Contains(text, ana) || strings.Contains(text, "userId") || !strings.Contains(text, tx.TxID) {
				tb.Errorf("the last transactions are %s, want %s without %s", text, tx.TxID, ana)
			}
		}},
		{Name: "another entity's id", Request: get(ana, "AAABogDyvCwBogDyvByJfVkYlhiGS_4W"), Status: http.StatusBadRequest, Code: problem.CodeInvalidParameter, Field: "path.id"},
		{Name: "another method", Request: apitest.Request{Method: http.MethodDelete, Path: "/transactions/" + tx.TxID, As: ana}, Status: http.StatusMethodNotAllowed, Code: problem.CodeMethodNotAllowed},
		{Name: "another path", Request: apitest.Request{Method: http.MethodGet, Path: "/transaction", As: ana}, Status: http.StatusNotFound, Code: problem.CodeNotFound},
	})
}

func createCases(t *testing.T) []apitest.Case {
	t.Helper()
	good := map[string]any{"amount": 500, "currency": "ARS"}
	post := func(sub, key string, body any) apitest.Request {
		return apitest.Request{Method: http.MethodPost, Path: "/transactions", As: sub, Key: key, Body: body}
	}
	invalid := func(name string, body any, field string) apitest.Case {
		return apitest.Case{Name: name, Request: post(ana, "bad", body), Status: http.StatusBadRequest, Code: problem.CodeInvalidBody, Field: field}
	}
	badKey := func(name, key string) apitest.Case {
		return apitest.Case{Name: name, Request: post(ana, key, good), Status: http.StatusBadRequest, Code: problem.CodeInvalidParameter, Field: "header.Idempotency-Key"}
	}
	var first []byte
	return []apitest.Case{
		{Name: "made", Request: post(ana, "k-1", good), Status: http.StatusCreated, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var tx appcore.Transaction
			first = r.Body
			if r.JSON(tb, &tx); tx.UserID != ana || tx.Amount != 500 || tx.Currency != "ARS" || tx.Status != "PENDING" {
				tb.Errorf("created %+v", tx)
			}
			if at := r.Header.Get("Location"); at != "transactions/"+tx.TxID {
				tb.Errorf("Location is %q", at)
			}
		}},
		{Name: "replayed", Request: post(ana, "k-1", good), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			if string(r.Body) != string(first) {
				tb.Errorf("the second response is %s, the first was %s", r.Body, first)
			}
		}},
		{Name: "key of another request", Request: post(ana, "k-1", map[string]any{"amount": 501, "currency": "ARS"}), Status: http.StatusUnprocessableEntity, Code: problem.CodeKeyReused},
		{Name: "key of another user", Request: post(bruno, "k-1", good), Status: http.StatusCreated, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var tx appcore.Transaction
			if r.JSON(tb, &tx); tx.UserID != bruno || strings.Contains(string(first), tx.TxID) {
				tb.Errorf("created %+v, after %s", tx, first)
			}
		}},
		badKey("no key", ""),
		badKey("long key", strings.Repeat("k", 201)),
		badKey("key with other characters", "k#1"),
		invalid("no JSON", `{"amount":`, ""),
		invalid("no body", nil, ""),
		invalid("no amount", map[string]any{"currency": "ARS"}, "body"),
		invalid("zero", map[string]any{"amount": 0, "currency": "ARS"}, "body.amount"),
		invalid("negative", map[string]any{"amount": -1, "currency": "ARS"}, "body.amount"),
		invalid("too much", `{"amount":9007199254740992,"currency":"ARS"}`, "body.amount"),
		invalid("a fraction", map[string]any{"amount": 1.5, "currency": "ARS"}, "body.amount"),
		invalid("an amount as a text", map[string]any{"amount": "500", "currency": "ARS"}, "body.amount"),
		invalid("another currency", map[string]any{"amount": 1, "currency": "XXX"}, "body.currency"),
		invalid("no object", `[]`, "body"),
		invalid("nothing", `null`, "body"),
		invalid("two objects", `{"amount":1,"currency":"ARS"}{"amount":2,"currency":"ARS"}`, "body"),
		invalid("more than a number holds", `{"amount":1e400,"currency":"ARS"}`, "body"),
		invalid("a second amount", `{"amount":1,"AMOUNT":-5,"currency":"ARS"}`, "body.AMOUNT"),
		invalid("a second amount of the same name", `{"amount":1,"amount":-5,"currency":"ARS"}`, ""),
		invalid("half a character", `{"amount":1,"currency":"\ud800"}`, "body.currency"),
		invalid("somebody else's name", map[string]any{"amount": 1, "currency": "ARS", "userId": bruno}, "body.userId"),
		{Name: "another media type", Request: apitest.Request{
			Method: http.MethodPost, Path: "/transactions", As: ana, Key: "bad", Body: "amount=1", Header: map[string]string{"Content-Type": "text/plain"},
		}, Status: http.StatusUnsupportedMediaType, Code: problem.CodeMediaType},
		{Name: "too large", Request: post(ana, "bad", `{"amount":1,"currency":"`+strings.Repeat("A", 2<<20)+`"}`), Status: http.StatusRequestEntityTooLarge, Code: problem.CodeBodyTooLarge},
	}
}

func notificationRoutes(t *testing.T, v *apitest.Server) {
	t.Helper()
	v.Deliver(t)
	list := func(sub, query string) apitest.Request {
		return apitest.Request{Method: http.MethodGet, Path: "/notifications" + query, As: sub}
	}
	var found struct{ Items []appcore.Notification }
	v.Do(t, list(ana, "")).JSON(t, &found)
	if len(found.Items) == 0 || found.Items[0].Read {
		t.Fatalf("notifications %+v, want some that are not read", found.Items)
	}
	id := found.Items[0].NotifID
	patch := func(sub, id string, body any) apitest.Request {
		return apitest.Request{Method: http.MethodPatch, Path: "/notifications/" + id, As: sub, Body: body}
	}
	is := func(read bool) func(testing.TB, *apitest.Response) {
		return func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			want := found.Items[0]
			want.Read = read
			var n appcore.Notification
			if r.JSON(tb, &n); n != want {
				tb.Errorf("got %+v, want %+v", n, want)
			}
			var now struct{ Items []appcore.Notification }
			if v.Do(tb, list(ana, "?limit=1")).JSON(tb, &now); now.Items[0] != want {
				tb.Errorf("found %+v, want %+v", now.Items[0], want)
			}
		}
	}
	yes := map[string]any{"read": true}
	v.Run(t, []apitest.Case{
		{Name: "limit", Request: list(ana, "?limit=1"), Status: http.StatusOK},
		{Name: "no limit", Request: list(ana, "?limit=0"), Status: http.StatusBadRequest, Code: problem.CodeInvalidParameter, Field: "query.limit"},
		{Name: "made-up cursor", Request: list(ana, "?cursor=x"), Status: http.StatusBadRequest, Code: problem.CodeInvalidCursor},
		{Name: "read", Request: patch(ana, id, yes), Status: http.StatusOK, Check: is(true)},
		{Name: "read again", Request: patch(ana, id, yes), Status: http.StatusOK, Check: is(true)},
		{Name: "somebody else's", Request: patch(bruno, id, map[string]any{"read": false}), Status: http.StatusNotFound, Code: problem.CodeNotFound, Check: func(tb testing.TB, _ *apitest.Response) {
			tb.Helper()
			is(true)(tb, v.Do(tb, patch(ana, id, yes)))
		}},
		{Name: "not read", Request: patch(ana, id, map[string]any{"read": false}), Status: http.StatusOK, Check: is(false)},
		{Name: "nobody's", Request: patch(ana, strings.Repeat("A", 32), yes), Status: http.StatusNotFound, Code: problem.CodeNotFound},
		{Name: "no id", Request: patch(ana, "notif-xyz", yes), Status: http.StatusBadRequest, Code: problem.CodeInvalidParameter, Field: "path.id"},
		{Name: "another entity's id", Request: patch(ana, nowhere, yes), Status: http.StatusBadRequest, Code: problem.CodeInvalidParameter, Field: "path.id"},
		{Name: "beyond time", Request: patch(ana, "_"+strings.Repeat("A", 31), yes), Status: http.StatusNotFound, Code: problem.CodeNotFound},
		{Name: "no body", Request: patch(ana, id, nil), Status: http.StatusBadRequest, Code: problem.CodeInvalidBody},
		{Name: "nothing", Request: patch(ana, id, map[string]any{}), Status: http.StatusBadRequest, Code: problem.CodeInvalidBody, Field: "body"},
		{Name: "another type", Request: patch(ana, id, map[string]any{"read": "yes"}), Status: http.StatusBadRequest, Code: problem.CodeInvalidBody, Field: "body.read"},
		{Name: "twice, in two cases", Request: patch(ana, id, `{"read":true,"READ":false}`), Status: http.StatusBadRequest, Code: problem.CodeInvalidBody, Field: "body.READ"},
		{Name: "another field", Request: patch(ana, id, map[string]any{"read": true, "message": "no"}), Status: http.StatusBadRequest, Code: problem.CodeInvalidBody, Field: "body.message"},
	})
}
