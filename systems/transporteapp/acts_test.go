package transporteapp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/transporteapp"
)

// TestBackOfficeActsAreListed: the back office can list which of its members granted what to which company.
func TestBackOfficeActsAreListed(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	office := func(method, path, key string, body any) apitest.Request {
		return apitest.Request{Method: method, Path: path, As: "u-office", Groups: []string{transporteapp.AdminGroup}, Key: key, Body: body}
	}
	target := "/empresas/" + ana + "/creditos"
	do[object](t, v, http.StatusCreated, office(http.MethodPost, target, "o-1", object{"creditos": 10}))
	do[object](t, v, http.StatusBadRequest, office(http.MethodPost, target, "o-2", object{"creditos": 0}))
	day := v.Clock.Now().UTC().Format(time.DateOnly)
	acts := do[api.Page[api.ShownAct]](t, v, http.StatusOK, office(http.MethodGet, "/acts?day="+day, "", nil)).Items
	statuses := map[int64]int{}
	for _, a := range acts {
		if a.ActorID != "u-office" || a.Operation != "createAbono" || a.Target != "POST "+target || a.Status == nil {
			t.Fatalf("%+v", a)
		}
		statuses[*a.Status]++
	}
	if len(acts) != 2 || statuses[http.StatusCreated] != 1 || statuses[http.StatusBadRequest] != 1 {
		t.Errorf("got %v, want one 201 and one 400", statuses)
	}
}
