package appcore_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

// The document's second part: the API.

// endpointLines are section 2.2.
func (d *document) endpointLines() []apitest.Line {
	return []apitest.Line{
		{Says: "GET | /transactions | handlers/transaction sGet.ts | Transacciones del usuario autenticado (paginadas)", Holds: func(t *testing.T) {
			t.Helper()
			for i := range 3 {
				create(t, d.v, "u-paged", strconv.Itoa(i), int64(i+1))
			}
			first := list(t, d.v, "u-paged", "limit", "2")
			rest := list(t, d.v, "u-paged", "limit", "2", "cursor", first.Next)
			if len(first.Items) != 2 || len(rest.Items) != 1 || rest.Next != "" || slices.Contains(first.Items, rest.Items[0]) {
				t.Errorf("pages %+v and %+v", first, rest)
			}
			for _, tx := range append(first.Items, rest.Items...) {
				if tx.UserID != "u-paged" {
					t.Errorf("another user's: %+v", tx)
				}
			}
		}},
		{Says: "GET | /transactions/{id} | handlers/transaction GetById.ts | Transacción por ID con validación de ownership", Holds: func(t *testing.T) {
			t.Helper()
			d.wantStatus(t, get(ana, "/transactions/"+d.tx.TxID), http.StatusOK)
			d.refused(t, get(bruno, "/transactions/"+d.tx.TxID), http.StatusForbidden, problem.CodeForbidden)
		}},
		{
			Says:    "GET | /transactions/global | handlers/transaction sGlobal.ts | Últimas 10 transacciones del sistema (GSI1)",
			Instead: "it does not tell whose they are, since every user sees them",
			Holds: func(t *testing.T) {
				t.Helper()
				for i := range 11 {
					create(t, d.v, "u-global", strconv.Itoa(i), 1)
				}
				response := d.wantStatus(t, get(bruno, "/transactions/global"), http.StatusOK)
				var latest struct{ Items []appcore.LatestTransaction }
				if response.JSON(t, &latest); len(latest.Items) != 10 || strings.Contains(string(response.Body), "u-global") || strings.Contains(string(response.Body), "userId") {
					t.Errorf("the last are %s", response.Body)
				}
			},
		},
		{Says: "POST | /transactions | handlers/transaction sPost.ts | Crear transacción con idempotencia", Holds: func(t *testing.T) {
			t.Helper()
			body := object{"amount": 500, "currency": "USD"}
			first := d.wantStatus(t, post("u-post", "k", body), http.StatusCreated)
			if again := d.wantStatus(t, post("u-post", "k", body), http.StatusOK); string(again.Body) != string(first.Body) {
				t.Errorf("the second response is %s, the first was %s", again.Body, first.Body)
			}
			d.refused(t, post("u-post", "", body), http.StatusBadRequest, problem.CodeInvalidParameter)
			if own := list(t, d.v, "u-post").Items; len(own) != 1 {
				t.Errorf("created %+v", own)
			}
		}},
		{Says: "GET | /notifications | handlers/notificatio nsGet.ts | Notificaciones del usuario, orden descendente", Holds: func(t *testing.T) {
			t.Helper()
			about := create(t, d.v, "u-told", "k-1", 1)
			d.v.Clock.Advance(time.Second)
			d.v.Deliver(t)
			create(t, d.v, "u-told", "k-2", 1)
			d.v.Clock.Advance(time.Second)
			d.v.Deliver(t)
			if own := notifications(t, d.v, "u-told"); len(own) != 2 || own[1].TxID != about.TxID || !own[0].CreatedAt.After(own[1].CreatedAt) {
				t.Errorf("shown %+v", own)
			}
			if none := notifications(t, d.v, "u-nobody"); len(none) != 0 {
				t.Errorf("another user gets %+v", none)
			}
		}},
		{Says: "Cada endpoint corresponde a una Lambda individual", Holds: func(t *testing.T) {
			t.Helper()
			text, routes := apitest.TemplateText(t), d.v.Routes()
			for _, r := range routes {
				if !strings.Contains(text, "\n  "+strings.ToUpper(r.ID[:1])+r.ID[1:]+"Function:\n") {
					t.Errorf("%s %s has no function", r.Method, r.Path)
				}
			}
			if n := len(regexp.MustCompile(`(?m)^ +Path: `).FindAllString(text, -1)); n != len(routes) {
				t.Errorf("functions have %d paths, the API %d", n, len(routes))
			}
		}},
	}
}

// tokenLines are section 2.3.
func (d *document) tokenLines() []apitest.Line {
	refused := func(token func(*testing.T) string) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			d.wantStatus(t, apitest.Request{Method: http.MethodGet, Path: "/transactions", Token: d.v.TokenWith(t, ana, "jti", "another")}, http.StatusOK)
			d.refused(t, apitest.Request{Method: http.MethodGet, Path: "/transactions", Token: token(t)}, http.StatusUnauthorized, problem.CodeInvalidToken)
		}
	}
	claim := func(name string, value any) func(*testing.T) {
		return refused(func(t *testing.T) string { t.Helper(); return d.v.TokenWith(t, ana, name, value) })
	}
	return []apitest.Line{
		{Says: "Verifica la firma digital del token", Holds: refused(func(t *testing.T) string {
			t.Helper()
			forger, err := auth.NewIssuer(appcore.Name, "http://127.0.0.1", d.v.Clock.Now)
			if err != nil {
				t.Fatal(err)
			}
			forged, err := forger.Mint(auth.Claims{Sub: ana})
			if err != nil {
				t.Fatal(err)
			}
			// The claims of the pool's token, with a forged signature.
			good := d.v.Token(t, ana)
			return good[:strings.LastIndex(good, ".")] + forged[strings.LastIndex(forged, "."):]
		})},
		{Says: `Valida que el campo tokenUse sea "access"`, Holds: claim("token_use", "id")},
		{Says: "Comprueba que el issuer coincida", Holds: claim("iss", "https://cognito-idp.us-east-1.amazonaws.com/another")},
		{Says: "Verifica que el token no haya expirado", Holds: claim("exp", d.v.Clock.Now().Add(-time.Hour).Unix())},
		{Says: "Valida que el clientId del token", Holds: claim("client_id", "another")},
		{Says: "Las claves JWKS se cachean", Holds: keysAreKept},
		{Says: "El userId (claim sub del token)", Holds: func(t *testing.T) {
			t.Helper()
			tx := create(t, d.v, "u-sub", "k", 1)
			if found := d.under(t, "u-sub", "TX#"); len(found) != 1 || found[0]["txId"] != tx.TxID {
				t.Errorf("under the sub is %v", found)
			}
			d.refused(t, post("u-sub", "k-2", object{"amount": 1, "currency": "ARS", "userId": bruno}), http.StatusBadRequest, problem.CodeInvalidBody)
			if own := list(t, d.v, bruno, "userId", "u-sub").Items; slices.ContainsFunc(own, func(tx appcore.Transaction) bool { return tx.UserID != bruno }) {
				t.Errorf("%s finds %+v", bruno, own)
			}
		}},
	}
}

// keysAreKept verifies tokens like a function with a user pool, which fetches the pool's keys once.
func keysAreKept(t *testing.T) {
	t.Helper()
	var asked atomic.Int32
	mux := http.NewServeMux()
	pool := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(pool.Close)
	issuer, err := auth.NewIssuer(appcore.Name, pool.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	issuer.Register(mux)
	verifier, err := auth.NewVerifier(issuer.URL(), []string{issuer.Client()}, auth.NewRemote(issuer.URL(), pool.Client(), nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		token, err := issuer.Mint(auth.Claims{Sub: ana})
		if err != nil {
			t.Fatal(err)
		}
		if p, err := verifier.Verify(t.Context(), token); err != nil || p.Sub != ana {
			t.Fatalf("verified as %+v, %v", p, err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the pool was asked %d times for its keys", n)
	}
}

// statusLines are section 2.4.
func (d *document) statusLines() []apitest.Line {
	return []apitest.Line{
		{Says: "401 | Token ausente o inválido | Authorization header no enviado", Holds: func(t *testing.T) {
			t.Helper()
			d.refused(t, get("", "/transactions"), http.StatusUnauthorized, problem.CodeMissingToken)
			d.refused(t, apitest.Request{Method: http.MethodGet, Path: "/transactions", Token: "no.token.this"}, http.StatusUnauthorized, problem.CodeInvalidToken)
		}},
		{Says: "403 | Recurso de otro usuario | GET /transactions/{id} de otra persona", Holds: func(t *testing.T) {
			t.Helper()
			d.refused(t, get(bruno, "/transactions/"+d.tx.TxID), http.StatusForbidden, problem.CodeForbidden)
		}},
		{Says: "404 | Recurso no encontrado | txId inexistente", Holds: func(t *testing.T) {
			t.Helper()
			d.refused(t, get(ana, "/transactions/"+nowhere), http.StatusNotFound, problem.CodeNotFound)
		}},
		{Says: "400 | Body inválido | JSON malformado o falta el campo amount", Holds: func(t *testing.T) {
			t.Helper()
			d.refused(t, post(ana, "bad", `{"amount":`), http.StatusBadRequest, problem.CodeInvalidBody)
			d.refused(t, post(ana, "bad", object{"currency": "ARS"}), http.StatusBadRequest, problem.CodeInvalidBody)
		}},
		{
			Says:    "409 | Idempotency conflict | Mismo Idempotency-Key procesado dos veces",
			Instead: "the first response, with 200, as 2.6 asks for; 422 for another request with the same key",
			Holds: func(t *testing.T) {
				t.Helper()
				first := d.wantStatus(t, post("u-409", "k", object{"amount": 1, "currency": "ARS"}), http.StatusCreated)
				if again := d.wantStatus(t, post("u-409", "k", object{"amount": 1, "currency": "ARS"}), http.StatusOK); string(again.Body) != string(first.Body) {
					t.Errorf("the second response is %s, the first was %s", again.Body, first.Body)
				}
				d.refused(t, post("u-409", "k", object{"amount": 2, "currency": "ARS"}), http.StatusUnprocessableEntity, problem.CodeKeyReused)
			},
		},
		{Says: "500 | Error interno inesperado | Falla de DynamoDB o bug no controlado", Holds: func(t *testing.T) {
			t.Helper()
			d.broken(t, get(ana, "/transactions"))
		}},
		{Says: "se verifica que item.userId === userId", Instead: "the read is the owner's: nothing of somebody else's item is returned to the handler", Holds: func(t *testing.T) {
			t.Helper()
			response := d.wantStatus(t, get(bruno, "/transactions/"+d.tx.TxID), http.StatusForbidden)
			if strings.Contains(string(response.Body), ana) || strings.Contains(string(response.Body), "500") {
				t.Errorf("the rejection reveals the transaction: %s", response.Body)
			}
			if mine := list(t, d.v, bruno).Items; slices.ContainsFunc(mine, func(tx appcore.Transaction) bool { return tx.TxID == d.tx.TxID }) {
				t.Errorf("%s has %+v", bruno, mine)
			}
		}},
	}
}

// broken sends a request to a system whose table has been deleted.
func (d *document) broken(t *testing.T, r apitest.Request) {
	t.Helper()
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	if _, err := v.Database.DynamoDB.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("AppCore")}); err != nil {
		t.Fatal(err)
	}
	(&document{v: v}).refused(t, r, http.StatusInternalServerError, problem.CodeInternal)
}

// caseLines are the test cases that section 2.5 requires.
func (d *document) caseLines() []apitest.Line {
	return []apitest.Line{
		{Says: "creación exitosa de una transacción (201)", Holds: func(t *testing.T) {
			t.Helper()
			var tx appcore.Transaction
			d.wantStatus(t, post("u-201", "k", object{"amount": 500, "currency": "ARS"}), http.StatusCreated).JSON(t, &tx)
			if tx.UserID != "u-201" || tx.Amount != 500 || tx.Currency != "ARS" || tx.Status != "PENDING" || tx.TxID == "" || !tx.CreatedAt.Equal(d.v.Clock.Now()) {
				t.Errorf("created %+v", tx)
			}
		}},
		{Says: "token ausente (401)", Holds: func(t *testing.T) {
			t.Helper()
			d.refused(t, post("", "k", object{"amount": 500, "currency": "ARS"}), http.StatusUnauthorized, problem.CodeMissingToken)
		}},
		{Says: "JSON inválido en el body (400)", Holds: func(t *testing.T) {
			t.Helper()
			d.refused(t, post(ana, "bad", "{"), http.StatusBadRequest, problem.CodeInvalidBody)
		}},
		{Says: "error inesperado del servicio (500)", Holds: func(t *testing.T) {
			t.Helper()
			d.broken(t, post(ana, "k", object{"amount": 500, "currency": "ARS"}))
		}},
		{Says: "recuperación idempotente ante un reintento", Holds: func(t *testing.T) {
			t.Helper()
			body := object{"amount": 500, "currency": "ARS"}
			first := d.wantStatus(t, post("u-again", "k", body), http.StatusCreated)
			d.v.Deliver(t) // settled in the meantime
			if again := d.wantStatus(t, post("u-again", "k", body), http.StatusOK); string(again.Body) != string(first.Body) {
				t.Errorf("the second response is %s, the first was %s", again.Body, first.Body)
			}
			if own := list(t, d.v, "u-again").Items; len(own) != 1 || own[0].Status != "COMPLETED" {
				t.Errorf("created %+v", own)
			}
		}},
	}
}

// scaleLines are section 2.6.
func (d *document) scaleLines() []apitest.Line {
	return []apitest.Line{
		{Says: "AWS Lambda — concurrencia", Instead: "functions scale by themselves; reserved concurrency, which they may have, is the account's to spare", Holds: func(t *testing.T) {
			t.Helper()
			if strings.Contains(apitest.TemplateText(t), "ReservedConcurrentExecutions") {
				t.Error("the template takes concurrency from other functions")
			}
		}},
		{Says: "DynamoDB — particiones y hot keys", Holds: func(t *testing.T) {
			t.Helper()
			create(t, d.v, "u-keys", "k", 1)
			partitions := map[string]bool{}
			for _, a := range d.v.Accesses()["createTransaction"] {
				if strings.Contains(a.Leading, "u-keys") || strings.HasPrefix(a.Leading, "TX#") {
					partitions[a.Leading] = true
				} else if !strings.HasPrefix(a.Leading, "USER#") && !strings.HasPrefix(a.Leading, "IDE#") {
					t.Errorf("creating writes %+v, which all users share", a)
				}
			}
			if !partitions["USER#u-keys"] || !partitions["IDE#u-keys#k"] {
				t.Errorf("creating writes %v", partitions)
			}
		}},
		{Says: "API Gateway — throttling", Instead: "rate and burst are the stage's; an HTTP API has neither keys nor a cache, so clients may keep the last ten for a second", Holds: func(t *testing.T) {
			t.Helper()
			if text := apitest.TemplateText(t); !strings.Contains(text, "ThrottlingRateLimit:") || !strings.Contains(text, "ThrottlingBurstLimit:") {
				t.Error("the stage has no limits")
			}
			if kept := d.wantStatus(t, get(ana, "/transactions/global"), http.StatusOK).Header.Get("Cache-Control"); kept != "private, max-age=1" {
				t.Errorf("Cache-Control is %q", kept)
			}
		}},
		{Says: "Paginación nativa", Instead: "what follows is next, not lastKey; it is sealed, so that it neither tells the table's keys nor lets others in", Holds: func(t *testing.T) {
			t.Helper()
			for i := range 5 {
				create(t, d.v, "u-pages", strconv.Itoa(i), 1)
			}
			d.v.Deliver(t)
			for _, path := range []string{"/transactions", "/notifications"} {
				seen, next := 0, ""
				for {
					var p struct {
						Items []object
						Next  string
					}
					d.wantStatus(t, get("u-pages", apitest.Query(path, "limit", "2", "cursor", next)), http.StatusOK).JSON(t, &p)
					if seen += len(p.Items); len(p.Items) > 2 {
						t.Errorf("%s has a page of %d", path, len(p.Items))
					}
					if next = p.Next; next == "" {
						break
					}
					if strings.Contains(next, "u-pages") {
						t.Errorf("a cursor reveals keys: %s", next)
					}
					d.refused(t, get(bruno, apitest.Query(path, "limit", "2", "cursor", next)), http.StatusBadRequest, problem.CodeInvalidCursor)
				}
				if seen != 5 {
					t.Errorf("%s has %d items, want 5", path, seen)
				}
			}
		}},
		{Says: "Idempotencia — seguridad ante reintentos", Holds: func(t *testing.T) {
			t.Helper()
			responses := make([]*apitest.Response, 8)
			var all sync.WaitGroup
			for i := range responses {
				all.Go(func() { responses[i] = d.v.Do(t, post("u-retries", "k", object{"amount": 1, "currency": "ARS"})) })
			}
			all.Wait()
			for _, response := range responses {
				if string(response.Body) != string(responses[0].Body) {
					t.Errorf("got %s and %s", response.Body, responses[0].Body)
				}
			}
			if own := list(t, d.v, "u-retries").Items; len(own) != 1 {
				t.Errorf("created %+v", own)
			}
		}},
	}
}
