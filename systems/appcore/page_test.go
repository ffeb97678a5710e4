package appcore_test

import (
	"errors"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/databasetest"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/systemtest"
	"github.com/monotable/monotable/web/webtest"
)

// process runs AppCore as a process would, with workers and a development issuer.
func process(t *testing.T, o appcore.Options) (address string, token func(sub string, groups ...string) string) {
	t.Helper()
	database := databasetest.Open(t)
	server := httptest.NewUnstartedServer(nil)
	issuer, err := auth.NewIssuer(appcore.Name, "http://"+server.Listener.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	host, err := run.NewHost(t.Context(), run.Options{
		Database:  &run.Database{DynamoDB: database.DynamoDB, Streams: database.Streams, Own: true, Poll: time.Millisecond},
		CursorKey: make([]byte, 32), Access: run.SignedHere(issuer),
	}, appcore.System(o))
	if err != nil {
		t.Fatal(err)
	}
	systemtest.Serve(t, server, host)
	return server.URL + "/appcore/", func(sub string, groups ...string) string {
		token, err := issuer.Mint(auth.Claims{Sub: sub, Groups: groups, TTL: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
}

// signIn signs in by pasting a token.
func signIn(p *webtest.Page, token, words string) {
	p.Wait("h1")
	p.Click(".empty .button")
	p.Until(`document.querySelector("#sign-in textarea") !== null`)
	p.Do(chromedp.SetValue("#sign-in textarea", token))
	p.Eval(`document.querySelector("#sign-in textarea").dispatchEvent(new Event("input", { bubbles: true }))`)
	p.Click("dialog[open] .button.primary")
	p.UntilText(words)
}

// pay creates a transaction.
func pay(p *webtest.Page, amount string) {
	p.Wait("h1")
	p.Click(".wallet .button.primary")
	p.Wait("input[name=amount]")
	p.Type("input[name=amount]", amount)
	p.Click("dialog[open] .button.primary")
}

// TestWorkingDay: a user creates transactions, sees one pending while the bank does not respond, sees each outcome without a
// reload, and gets and reads a notification. An operator sees pending transactions, replays one, and finds the rejected ones.
func TestWorkingDay(t *testing.T) {
	t.Parallel()
	var up atomic.Bool
	address, token := process(t, appcore.Options{Rule: rule(func(tx appcoredb.Transaction) (bool, error) {
		if !up.Load() {
			return false, errors.New("the bank does not respond")
		}
		return tx.Amount < 100_000, nil
	})})
	user := webtest.Open(t, address, webtest.Phone)
	user.Wait("h1")
	user.Accessible()
	user.Shot("appcore-welcome")
	signIn(user, token(ana), "No transactions yet")
	user.Accessible()
	user.Shot("appcore-empty")
	pay(user, "12.345")
	user.UntilText("Enter an amount above zero with at most two decimals.")
	user.Accessible()
	user.Shot("appcore-make")
	user.Eval(`document.querySelector("input[name=amount]").select()`)
	user.Type("input[name=amount]", "125.50")
	user.Click("dialog[open] .button.primary")
	user.UntilText("$125.50 is on its way.")
	user.UntilText("Pending")

	operator := webtest.Open(t, address, webtest.Dark, webtest.Language("pt-BR"), webtest.Expect("status of 4"))
	signIn(operator, token("u-999", appcore.AdminGroup), "Ainda não há transações")
	operator.Button("Operação")
	operator.UntilText("125,50")
	operator.Accessible()
	operator.Width()
	operator.Shot("appcore-operate")
	up.Store(true)
	operator.Button("Tentar de novo")
	operator.UntilText("Nada está esperando")
	user.UntilText("Completed")
	pay(user, "5000")
	user.UntilText("Declined")
	user.Accessible()
	user.Width()
	user.Shot("appcore-wallet")

	operator.Button("Concluídas")
	operator.UntilText("125,50")
	operator.Accessible()
	operator.Button("Recusadas")
	operator.UntilText("5.000,00")
	operator.Accessible()
	operator.Shot("appcore-declined")
	operator.Type("input[name=find]", nowhere)
	operator.Button("Buscar")
	operator.UntilText("Não existe essa transação.")
	operator.Accessible()

	tablet := webtest.Open(t, address, webtest.Tablet, webtest.Dark, webtest.Language("es-MX"))
	signIn(tablet, token(ana), "Hoy")
	tablet.Accessible()
	tablet.Width()
	tablet.Shot("appcore-wallet")
	tablet.Click(`.shell-nav a[href="#/notifications"]`)
	tablet.UntilText("Su transacción fue rechazada")
	tablet.Accessible()
	tablet.Shot("appcore-notifications")
	tablet.Button("Marcar todas como leídas")
	tablet.Until(`document.querySelector(".line.fresh") === null`)
	tablet.Eval(`document.querySelector(".line-link").click()`)
	tablet.UntilText("Rechazada")
	tablet.Accessible()
	tablet.Width()
	tablet.Shot("appcore-transaction")
}

// TestRejectedToken: a user whose token the API rejects is told why the page asks to sign in again.
func TestRejectedToken(t *testing.T) {
	t.Parallel()
	address, _ := process(t, appcore.Options{})
	_, foreign := process(t, appcore.Options{})
	p := webtest.Open(t, address, webtest.Expect("status of 401"))
	signIn(p, foreign(ana), "does not accept its token")
	p.Until(`document.querySelectorAll(".toast").length === 1 && document.querySelector(".empty .button") !== null`)
	p.Accessible()
	p.Shot("appcore-rejected")
}
