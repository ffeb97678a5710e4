package appcore_test

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

// asks matches the parts of the document that contain requirements, besides its tables.
var asks = regexp.MustCompile(`^Ítem \d — .*|^¿Por qué [^?]*\?|^Consideración de escalabilidad|` +
	`^Cada endpoint corresponde a una Lambda individual|` +
	`Verifica la firma digital del token|Valida que el campo tokenUse sea "access"|Comprueba que el issuer coincida|` +
	`Verifica que el token no haya expirado|Valida que el clientId del token|^Las claves JWKS se cachean|^El userId \(claim sub del token\)|` +
	"se verifica que `item.userId === userId`|" +
	`creación exitosa de una transacción \(201\)|token ausente \(401\)|JSON inválido en el body \(400\)|` +
	`error inesperado del servicio \(500\)|recuperación idempotente ante un reintento|` +
	`^(AWS Lambda|DynamoDB|API Gateway|Idempotencia) — [^.]*|^Paginación nativa`)

// TestDocument checks every line of the document.
func TestDocument(t *testing.T) {
	t.Parallel()
	apitest.EachLine(t, appcore.System(appcore.Options{}), asks, func(t *testing.T, v *apitest.Server) []apitest.Line {
		t.Helper()
		d := documented(t, v)
		return slices.Concat(d.tableLines(), d.patternLines(), d.itemLines(t), d.reasonLines(), d.endpointLines(), d.tokenLines(), d.statusLines(), d.caseLines(), d.scaleLines())
	})
}

// document is a system in which everything in the document has happened once.
type document struct {
	v                 *apitest.Server
	tx                appcore.Transaction
	created, notified time.Time
}

func documented(t *testing.T, v *apitest.Server) *document {
	t.Helper()
	d := &document{v: v, created: v.Clock.Now()}
	d.wantStatus(t, apitest.Request{Method: http.MethodPut, Path: "/me", As: ana, Body: object{"email": "ana.garcia@mail.com", "name": "Ana García"}}, http.StatusOK)
	d.tx = create(t, v, ana, "req-uuid-xxxx", 500)
	v.Clock.Advance(time.Minute)
	v.Deliver(t)
	d.notified = v.Clock.Now()
	return d
}

// object is a JSON object.
type object = map[string]any

// wantStatus sends a request whose response must have a given status.
func (d *document) wantStatus(t *testing.T, r apitest.Request, status int) *apitest.Response {
	t.Helper()
	response := d.v.Do(t, r)
	if response.Status != status {
		t.Fatalf("%s %s: %d %s, want %d", r.Method, r.Path, response.Status, response.Body, status)
	}
	return response
}

// refused sends a request that must be rejected.
func (d *document) refused(t *testing.T, r apitest.Request, status int, code string) {
	t.Helper()
	if p := d.wantStatus(t, r, status).Problem(t); p.Code != code {
		t.Errorf("%s %s: %s, want %s", r.Method, r.Path, p.Code, code)
	}
}

// under returns a user's items whose sort keys begin with a prefix, newest first.
func (d *document) under(t *testing.T, sub, prefix string) []map[string]string {
	t.Helper()
	found := d.v.Query(t, "AppCore", "", "pk = :pk AND begins_with(sk, :sk)", map[string]string{":pk": "USER#" + sub, ":sk": prefix})
	slices.Reverse(found)
	return found
}

func get(sub, path string) apitest.Request {
	return apitest.Request{Method: http.MethodGet, Path: path, As: sub}
}

func post(sub, key string, body any) apitest.Request {
	return apitest.Request{Method: http.MethodPost, Path: "/transactions", As: sub, Key: key, Body: body}
}

// tableLines are sections 1.1 to 1.3.
func (d *document) tableLines() []apitest.Line {
	return []apitest.Line{
		{Says: "Nombre de la tabla | AppCore", Holds: func(t *testing.T) {
			t.Helper()
			if len(d.v.Accesses()) == 0 {
				t.Error("nothing was asked of any table")
			}
			for operation, accesses := range d.v.Accesses() {
				for _, a := range accesses {
					if a.Table != "AppCore" {
						t.Errorf("%s does %+v", operation, a)
					}
				}
			}
		}},
		{Says: "Billing mode | PAY_PER_REQUEST (On-Demand)", Holds: func(t *testing.T) {
			t.Helper()
			if b := d.v.Described(t, "AppCore").BillingModeSummary; b == nil || b.BillingMode != types.BillingModePayPerRequest {
				t.Errorf("billed by %+v", b)
			}
		}},
		{Says: "Región sugerida | us-east-1 (o la región del tenant)", Holds: func(t *testing.T) {
			t.Helper()
			if text := apitest.TemplateText(t); !strings.Contains(text, "${AWS::Region}") || regexp.MustCompile(`us-east-\d|eu-\w+-\d`).MatchString(text) {
				t.Error("the template names a Region of its own")
			}
		}},
		{Says: "pk (Partition Key) | String | Prefijo + ID. Ejemplos: USER#u-123, TX#tx-abc, IDE#req-uuid", Holds: func(t *testing.T) {
			t.Helper()
			if k := d.v.Described(t, "AppCore").KeySchema[0]; *k.AttributeName != "pk" || k.KeyType != types.KeyTypeHash {
				t.Errorf("the partition key is %s", *k.AttributeName)
			}
			for it := range items(t, d.v, "") {
				if pk := apitest.Plain(it)["pk"]; !regexp.MustCompile(`^(USER|TX|IDE)#.`).MatchString(pk) {
					t.Errorf("the partition key %s", pk)
				}
			}
			// A user and a transaction can have the same id without being confused.
			create(t, d.v, d.tx.TxID, "k", 7)
			if own := list(t, d.v, d.tx.TxID).Items; len(own) != 1 || own[0].TxID == d.tx.TxID {
				t.Errorf("the user %s has %+v", d.tx.TxID, own)
			}
		}},
		{Says: "sk (Sort Key) | String | Descriptor jerárquico. Ejemplos: PROFILE, TX#<timestamp>#<txId>, METADATA", Holds: func(t *testing.T) {
			t.Helper()
			if k := d.v.Described(t, "AppCore").KeySchema[1]; *k.AttributeName != "sk" || k.KeyType != types.KeyTypeRange {
				t.Errorf("the sort key is %s", *k.AttributeName)
			}
			for it := range items(t, d.v, "") {
				if sk := apitest.Plain(it)["sk"]; !regexp.MustCompile(`^(PROFILE|METADATA|(TX|NOTIF)#\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z#\w+)$`).MatchString(sk) {
					t.Errorf("the sort key %s", sk)
				}
			}
			// Ids distinguish transactions of the same millisecond.
			create(t, d.v, "u-twice", "k-1", 1)
			create(t, d.v, "u-twice", "k-2", 2)
			if found := d.under(t, "u-twice", "TX#"); len(found) != 2 || found[0]["createdAt"] != found[1]["createdAt"] {
				t.Errorf("found %v, want two of one moment", found)
			}
		}},
		{
			Says:    "GSI1 | GSI1PK (String) | GSI1SK = createdAt (ISO 8601) | ALL | Últimas N transacciones globales",
			Instead: "the sort key ends in the id, so that equal times have an order; what is projected says nothing of whose a transaction is, for all users see it",
			Holds: func(t *testing.T) {
				t.Helper()
				for _, x := range d.v.Described(t, "AppCore").GlobalSecondaryIndexes {
					if *x.IndexName != "GSI1" {
						continue
					}
					if *x.KeySchema[0].AttributeName != "GSI1PK" || *x.KeySchema[1].AttributeName != "GSI1SK" || slices.Contains(x.Projection.NonKeyAttributes, "userId") || x.Projection.ProjectionType != types.ProjectionTypeInclude {
						t.Errorf("GSI1 is %+v", x)
					}
				}
				for it := range items(t, d.v, "GSI1") {
					if e := apitest.Plain(it); e["GSI1SK"] != e["createdAt"]+"#"+e["txId"] {
						t.Errorf("an entry %v", e)
					}
				}
			},
		},
		{
			Says: "Consideración de escalabilidad",
			Holds: func(t *testing.T) {
				t.Helper()
				shards := map[string]bool{}
				for i := range 40 {
					create(t, d.v, "u-many", strconv.Itoa(i), 1)
				}
				for it := range items(t, d.v, "GSI1") {
					shards[apitest.Plain(it)["GSI1PK"]] = true
				}
				for shard := range shards {
					if !regexp.MustCompile(`^GLOBAL_TX#\d$`).MatchString(shard) {
						t.Errorf("the partition %s", shard)
					}
				}
				if len(shards) < 5 {
					t.Errorf("40 transactions are in %d of ten partitions", len(shards))
				}
			},
		},
	}
}

// patternLines are section 1.4: each pattern makes the document's database request, and the API returns its result.
func (d *document) patternLines() []apitest.Line {
	return []apitest.Line{
		{Says: "1 | Transacciones de un usuario | Query | Tabla principal | pk=USER#<id> · sk begins_with TX#", Holds: func(t *testing.T) {
			t.Helper()
			older := create(t, d.v, "u-pattern-1", "k-1", 1)
			d.v.Clock.Advance(time.Second)
			newer := create(t, d.v, "u-pattern-1", "k-2", 2)
			own, found := list(t, d.v, "u-pattern-1").Items, d.under(t, "u-pattern-1", "TX#")
			if !slices.Equal(own, []appcore.Transaction{newer, older}) || len(found) != 2 || found[0]["txId"] != newer.TxID || found[1]["txId"] != older.TxID {
				t.Errorf("shown %+v, found %v", own, found)
			}
			d.v.ExpectAsked(t, "listTransactions", "USER#u-pattern-1", "Query")
		}},
		{Says: "2 | Transacción por ID | GetItem | Tabla principal | pk=TX#<txId> · sk=METADATA", Holds: func(t *testing.T) {
			t.Helper()
			var tx appcore.Transaction
			d.wantStatus(t, get(ana, "/transactions/"+d.tx.TxID), http.StatusOK).JSON(t, &tx)
			if tx.TxID != d.tx.TxID || tx.Amount != 500 {
				t.Errorf("shown %+v", tx)
			}
			d.v.ExpectAsked(t, "getTransaction", "TX#"+d.tx.TxID, "GetItem")
		}},
		{Says: "3 | Notificaciones de usuario ordenadas por fecha | Query | Tabla principal | pk=USER#<id> · sk begins_with NOTIF#", Holds: func(t *testing.T) {
			t.Helper()
			for _, key := range []string{"k-1", "k-2"} {
				create(t, d.v, "u-pattern-3", key, 1)
				d.v.Clock.Advance(time.Second)
				d.v.Deliver(t)
			}
			own, found := notifications(t, d.v, "u-pattern-3"), d.under(t, "u-pattern-3", "NOTIF#")
			if len(own) != 2 || len(found) != 2 || !own[0].CreatedAt.After(own[1].CreatedAt) || found[0]["txId"] != own[0].TxID || found[1]["txId"] != own[1].TxID {
				t.Errorf("shown %+v, found %v", own, found)
			}
			d.v.ExpectAsked(t, "listNotifications", "USER#u-pattern-3", "Query")
		}},
		{
			Says:    "4 | Últimas 10 transacciones globales | Query | GSI1 | GSI1PK=GLOBAL _TX · GSI1SK=createdAt (desc)",
			Instead: "a Query for each of ten shards, merged; each transaction comes once",
			Holds: func(t *testing.T) {
				t.Helper()
				var want []string
				for i := range 12 {
					d.v.Clock.Advance(time.Millisecond)
					want = slices.Insert(want, 0, create(t, d.v, "u-pattern-4", strconv.Itoa(i), 1).TxID)
				}
				var latest struct{ Items []appcore.LatestTransaction }
				d.wantStatus(t, get(bruno, "/transactions/global"), http.StatusOK).JSON(t, &latest)
				var got []string
				for _, tx := range latest.Items {
					got = append(got, tx.TxID)
				}
				if !slices.Equal(got, want[:10]) {
					t.Errorf("shown %v, want %v", got, want[:10])
				}
				for shard := range 10 {
					d.v.ExpectAsked(t, "latestTransactions", "GLOBAL_TX#"+strconv.Itoa(shard), "Query GSI1")
				}
				d.v.Never(t, "Scan")
			},
		},
	}
}

// reasonLines are section 1.6.
func (d *document) reasonLines() []apitest.Line {
	return []apitest.Line{
		{Says: "¿Por qué Single Table Design?", Holds: func(t *testing.T) {
			t.Helper()
			kinds := map[string]int{}
			for _, it := range d.v.Query(t, "AppCore", "", "pk = :pk", map[string]string{":pk": "USER#" + ana}) {
				kinds[it["entityType"]]++
			}
			if kinds["USER"] != 1 || kinds["TRANSACTION"] == 0 || kinds["NOTIFICATION"] == 0 {
				t.Errorf("one Query of a user finds %v", kinds)
			}
		}},
		{Says: "¿Por qué TransactWrite para crear transacciones?", Holds: func(t *testing.T) {
			t.Helper()
			count := func() int { return len(slices.Collect(items(t, d.v, ""))) }
			before := count()
			create(t, d.v, "u-whole", "k", 1)
			if n := count() - before; n != 3 {
				t.Errorf("a transaction wrote %d items, want the item, its copy and the record", n)
			}
			// Reusing a key for a different request writes none of the three items.
			d.refused(t, post("u-whole", "k", object{"amount": 2, "currency": "ARS"}), http.StatusUnprocessableEntity, problem.CodeKeyReused)
			if n := count() - before; n != 3 {
				t.Errorf("a refused transaction left %d items", n-3)
			}
			scan(t, d.v).sound(t)
		}},
		{
			Says:    "¿Por qué incluir GSI1PK y GSI1SK en ambos ítems de transacción?",
			Instead: "the item at TX# alone has them: with both, each transaction would be listed twice",
			Holds: func(t *testing.T) {
				t.Helper()
				for it := range items(t, d.v, "") {
					tx := apitest.Plain(it)
					if got, want := tx["GSI1PK"] != "", strings.HasPrefix(tx["pk"], "TX#"); got != want {
						t.Errorf("is %v in the index: %v", tx, got)
					}
				}
			},
		},
	}
}
