package catfecito_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/apitest"
)

// TestTwoProcesses: sixteen customers at two processes order ten pieces, and ten orders succeed. When the process that consumes
// the stream is killed, the other takes over: each change is in the history once, and a product is found by a word of its new
// name.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	peers := apitest.Processes(t, catfecito.System(catFecito()))
	at := func(n int) *apitest.Server { return peers[n%2].Server }
	p := stock(t, at(0), "Taza", "20.00", 10)
	var sold atomic.Int32
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			who := fmt.Sprint("customer-", n)
			put(t, at(n), who, p.ProductID, 1)
			switch response := at(n+1).Do(t, keyed(who, "/orders", "k", object{"total": "20.00"})); response.Status {
			case http.StatusCreated:
				sold.Add(1)
			case http.StatusConflict:
			default:
				t.Errorf("%s: %d %s", who, response.Status, response.Body)
			}
		})
	}
	all.Wait()
	for again := 0; again < 16 && sold.Load() < 10; again++ { // customers rejected because of concurrent orders try again
		who := fmt.Sprint("customer-", again)
		if response := at(again).Do(t, keyed(who, "/orders", "again", object{"total": "20.00"})); response.Status == http.StatusCreated {
			sold.Add(1)
		}
	}
	peers[0].Kill()
	last := at(1)
	if left := product(t, last, p.ProductID).Stock; sold.Load() != 10 || left != 0 {
		t.Errorf("%d pieces were sold of ten, %d are left", sold.Load(), left)
	}
	must[catfecito.Product](t, last, staff(request("", http.MethodPut, "/products/"+p.ProductID, object{
		"categoryId": "cafes", "name": "Taza de barro", "description": "", "price": "21.00",
	})), http.StatusOK)
	want := []string{"MODIFY Product name:Taza→Taza de barro price:20.00→21.00"}
	for left := range 10 {
		want = append(want, fmt.Sprintf("MODIFY Product stock:%d→%d", left+1, left))
	}
	var changes []string // a batch's entries are stored in no particular order: the newest may appear before others
	apitest.Eventually(t, "tell of each change", func() bool {
		changes = trail(t, last, "PRODUCT", p.ProductID)
		return len(changes) > len(want)
	})
	if created := changes[len(changes)-1]; !strings.HasPrefix(created, "INSERT Product ") || !slices.Equal(changes[:len(changes)-1], want) {
		t.Errorf("the product's trail is %q, want %q and its creation", changes, want)
	}
	apitest.Eventually(t, "find the product by its new name", func() bool {
		found := must[page[catfecito.Offer]](t, last, request("", http.MethodGet, "/products?q=barro", nil), http.StatusOK)
		return len(found.Items) == 1 && found.Items[0].ProductID == p.ProductID
	})
}
