package appcore_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

// operator is a request of somebody who operates the system.
func operator(method, path string) apitest.Request {
	return apitest.Request{Method: method, Path: path, As: "u-999", Groups: []string{appcore.AdminGroup}}
}

// operationRoutes: the queues are for operators, and nobody else.
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
	for _, r := range []apitest.Request{operator(http.MethodGet, "/queue/PENDING"), operator(http.MethodGet, own), operator(http.MethodPost, own+"/replay")} {
		cases = append(cases,
			bad("a user "+r.Path, as(r), http.StatusForbidden, problem.CodeForbidden, ""),
			bad("another system's "+r.Path, as(r, "catfecito-admin"), http.StatusForbidden, problem.CodeForbidden, ""))
	}
	v.Run(t, append(cases,
		apitest.Case{Name: "pending", Request: operator(http.MethodGet, "/queue/PENDING"), Status: http.StatusOK},
		apitest.Case{Name: "one", Request: operator(http.MethodGet, own), Status: http.StatusOK},
		bad("no status", operator(http.MethodGet, "/queue/COMPLETED"), http.StatusBadRequest, problem.CodeInvalidParameter, "path.status"),
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

// TestOperate: what the rule cannot decide waits in the queue, overdue after five minutes; a replay settles it once, and its owner
// is told once; what is declined is in the other queue, and stays there.
func TestOperate(t *testing.T) {
	t.Parallel()
	down := true
	v := apitest.Open(t, appcore.System(appcore.Options{Rule: rule(func(tx appcoredb.Transaction) (bool, error) {
		if down {
			return false, errors.New("the bank does not answer")
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
	scan(t, v).sound(t)
}
