package appcore_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

// operator sends a request as an operator.
func operator(method, path string) apitest.Request {
	return apitest.Request{Method: method, Path: path, As: "u-999", Groups: []string{appcore.AdminGroup}}
}

// operationRoutes: only operators can access the queues.
func operationRoutes(t *testing.T, v *apitest.Server) {
	t.Helper()
	id := create(t, v, ana, "operation", 500).TxID
	own := "/queue/transactions/" + id
	bad := func(name string, r apitest.Request, status int, code, field string) apitest.Case {
		return apitest.Case{Name: name, Request: r, Status: status, Code: code, Field: field}
	}
	as := func(r apitest.Request, groups ...string) apitest.Request {
		r.Groups = groups
		return r
	}
	var cases []apitest.Case
	for _, r := range []apitest.Request{operator(http.MethodGet, "/queue/PENDING"), operator(http.MethodGet, own), operator(http.MethodPost, own+"/replay"), operator(http.MethodGet, "/acts?day=2026-02-11")} {
		cases = append(cases,
			bad("a user "+r.Path, as(r), http.StatusForbidden, problem.CodeForbidden, ""),
			bad("another system's "+r.Path, as(r, "catfecito-admin"), http.StatusForbidden, problem.CodeForbidden, ""))
	}
	v.Run(t, append(cases,
		apitest.Case{Name: "pending", Request: operator(http.MethodGet, "/queue/PENDING"), Status: http.StatusOK},
		apitest.Case{Name: "one", Request: operator(http.MethodGet, own), Status: http.StatusOK},
		bad("no status", operator(http.MethodGet, "/queue/LATE"), http.StatusBadRequest, problem.CodeInvalidParameter, "path.status"),
		apitest.Case{Name: "acts", Request: operator(http.MethodGet, "/acts?day=2026-02-11"), Status: http.StatusOK},
		bad("no day", operator(http.MethodGet, "/acts"), http.StatusBadRequest, problem.CodeInvalidParameter, "query.day"),
		bad("no limit", operator(http.MethodGet, "/queue/FAILED?limit=0"), http.StatusBadRequest, problem.CodeInvalidParameter, "query.limit"),
		bad("made-up cursor", operator(http.MethodGet, "/queue/FAILED?cursor=AQ"), http.StatusBadRequest, problem.CodeInvalidCursor, ""),
		bad("nowhere", operator(http.MethodGet, "/queue/transactions/"+nowhere), http.StatusNotFound, problem.CodeNotFound, ""),
		bad("no id", operator(http.MethodGet, "/queue/transactions/x"), http.StatusBadRequest, problem.CodeInvalidParameter, "path.id"),
		bad("replay nothing", operator(http.MethodPost, "/queue/transactions/"+nowhere+"/replay"), http.StatusNotFound, problem.CodeNotFound, ""),
		bad("replay no id", operator(http.MethodPost, "/queue/transactions/x/replay"), http.StatusBadRequest, problem.CodeInvalidParameter, "path.id"),
		apitest.Case{Name: "replay", Request: operator(http.MethodPost, own+"/replay"), Status: http.StatusOK},
		apitest.Case{Name: "replay again", Request: operator(http.MethodPost, own+"/replay"), Status: http.StatusOK},
	))
}

// eventRoutes reads the beginning of both event streams. Only operators can access theirs.
func eventRoutes(t *testing.T, v *apitest.Server) {
	t.Helper()
	v.Run(t, []apitest.Case{{Name: "a user", Request: apitest.Request{Method: http.MethodGet, Path: "/queue/events", As: ana}, Status: http.StatusForbidden, Code: problem.CodeForbidden}})
	for _, r := range []apitest.Request{{Method: http.MethodGet, Path: "/events", As: ana}, operator(http.MethodGet, "/queue/events")} {
		if !v.Live() { // Lambda returns the available events and ends
			v.Run(t, []apitest.Case{{Name: r.Path, Request: r, Status: http.StatusOK}})
			continue
		}
		ctx, leave := context.WithCancel(t.Context())
		next(ctx, t, v, r)("ready")
		leave()
	}
}

// next returns a function that returns the data of a stream's next event. If a name is given, the event must have it.
func next(ctx context.Context, t *testing.T, v *apitest.Server, r apitest.Request) func(name string) string {
	t.Helper()
	res, feed := v.Stream(ctx, t, r)
	if res.Status != http.StatusOK {
		t.Fatalf("%s: %d", r.Path, res.Status)
	}
	lines := bufio.NewScanner(feed)
	return func(name string) string {
		t.Helper()
		for lines.Scan() {
			if got, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				lines.Scan()
				if name != "" && got != name {
					t.Fatalf("%s: event %s %s, want %s", r.Path, got, lines.Text(), name)
				}
				return strings.TrimPrefix(lines.Text(), "data: ")
			}
		}
		t.Fatalf("%s ended before %s: %v", r.Path, name, lines.Err())
		return ""
	}
}

// TestEvents: users receive only changes to their own data, operators receive changes to all transactions.
func TestEvents(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	own := next(ctx, t, v, apitest.Request{Method: http.MethodGet, Path: "/events", As: ana})
	all := next(ctx, t, v, operator(http.MethodGet, "/queue/events"))
	own("ready")
	all("ready")
	v.Work(t)
	own("ready") // from now on the process consumes the stream
	all("ready")
	others := create(t, v, "u-77", "event", 700).TxID
	id := create(t, v, ana, "event", 500).TxID
	notified := map[string]int{} // what an operator receives, by transaction and status
	for range 4 {
		var tx appcore.OperatedTransaction
		if err := json.Unmarshal([]byte(all("transaction")), &tx); err != nil {
			t.Fatal(err)
		}
		notified[tx.TxID+" "+string(tx.Status)]++
	}
	for _, want := range []string{id + " PENDING", id + " COMPLETED", others + " PENDING", others + " COMPLETED"} {
		if notified[want] != 1 {
			t.Errorf("an operator is notified of %v, want %s once", notified, want)
		}
	}
	var received []string // items arrive in the order of their shards
	for range 3 {
		received = append(received, own(""))
	}
	for _, want := range []string{`"status":"PENDING"`, `"status":"COMPLETED"`, `"notifId"`} {
		if n := len(slices.Collect(func(yield func(string) bool) {
			for _, e := range received {
				if strings.Contains(e, want) && strings.Contains(e, `"txId":"`+id) && !yield(e) {
					return
				}
			}
		})); n != 1 {
			t.Errorf("the owner is notified of %s %d times: %q", want, n, received)
		}
	}
}

// TestOperate: a transaction that the rule cannot decide stays in the queue, and is overdue after five minutes. A replay settles
// it once, and its owner is notified once. Rejected and completed transactions are in lists of their own.
func TestOperate(t *testing.T) {
	t.Parallel()
	down := true
	v := apitest.Open(t, appcore.System(appcore.Options{Rule: rule(func(tx appcoredb.Transaction) (bool, error) {
		if down {
			return false, errors.New("the bank does not respond")
		}
		return tx.Amount < 1000, nil
	})}))
	good := create(t, v, ana, "good", 500).TxID
	v.Clock.Advance(time.Second)
	declined := create(t, v, bruno, "declined", 5000).TxID
	queue := func(status string) (list []appcore.OperatedTransaction) {
		t.Helper()
		next := ""
		for {
			var page struct {
				Items []appcore.OperatedTransaction
				Next  string
			}
			r := v.Do(t, operator(http.MethodGet, "/queue/"+status+"?limit=1&cursor="+next))
			if r.Status != http.StatusOK {
				t.Fatalf("%s: %d %s", status, r.Status, r.Body)
			}
			r.JSON(t, &page)
			list = append(list, page.Items...)
			if next = page.Next; next == "" {
				return list
			}
		}
	}
	replay := func(id string, status int) appcore.OperatedTransaction {
		t.Helper()
		var tx appcore.OperatedTransaction
		r := v.Do(t, operator(http.MethodPost, "/queue/transactions/"+id+"/replay"))
		if r.Status != status {
			t.Fatalf("replay: %d %s, want %d", r.Status, r.Body, status)
		}
		if status == http.StatusOK {
			r.JSON(t, &tx)
		}
		return tx
	}
	if list := queue("PENDING"); len(list) != 2 || list[0].TxID != good || list[0].Overdue || list[0].UserID != ana {
		t.Errorf("pending at first: %+v", list)
	}
	v.Clock.Advance(6 * time.Minute)
	if list := queue("PENDING"); len(list) != 2 || !list[0].Overdue || !list[1].Overdue {
		t.Errorf("pending after six minutes: %+v", list)
	}
	replay(good, http.StatusServiceUnavailable)
	down = false
	for range 2 {
		if tx := replay(good, http.StatusOK); tx.Status != appcoredb.TxStatusCompleted || tx.Overdue {
			t.Errorf("replayed: %+v", tx)
		}
		if tx := replay(declined, http.StatusOK); tx.Status != appcoredb.TxStatusFailed {
			t.Errorf("declined: %+v", tx)
		}
	}
	if list := queue("PENDING"); len(list) != 0 {
		t.Errorf("pending at the end: %+v", list)
	}
	if list := queue("FAILED"); len(list) != 1 || list[0].TxID != declined || list[0].Amount != 5000 {
		t.Errorf("failed: %+v", list)
	}
	v.Clock.Advance(time.Second)
	last := create(t, v, bruno, "last", 700).TxID
	replay(last, http.StatusOK)
	if list := queue("COMPLETED"); len(list) != 2 || list[0].TxID != last || list[0].UserID != bruno || list[1].TxID != good {
		t.Errorf("completed: %+v", list)
	}
	scan(t, v).sound(t)
}

// TestOperatorsSeeReplays: operators can see who replayed which transaction.
func TestOperatorsSeeReplays(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	id := create(t, v, ana, "act", 500).TxID
	v.Run(t, []apitest.Case{
		{Name: "replay", Request: operator(http.MethodPost, "/queue/transactions/"+id+"/replay"), Status: http.StatusOK},
		{Name: "nobody", Request: apitest.Request{Method: http.MethodGet, Path: "/acts?day=2026-11-23", As: ana}, Status: http.StatusForbidden},
	})
	day := v.Clock.Now().UTC().Format(time.DateOnly)
	var page api.Page[api.ShownAct]
	v.Do(t, operator(http.MethodGet, "/acts?day="+day)).JSON(t, &page)
	if len(page.Items) != 1 || page.Items[0].ActorID != "u-999" || page.Items[0].Operation != "replayTransaction" || *page.Items[0].Status != http.StatusOK ||
		page.Items[0].Target != "POST /queue/transactions/"+id+"/replay" {
		t.Errorf("%+v", page.Items)
	}
}
