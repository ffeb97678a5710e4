package demo

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/system"
	"github.com/monotable/monotable/web"
)

const (
	// indexSub is the user of the page's tokens.
	indexSub = "u-123"
	// indexTTL lets a page stay open for a working day.
	indexTTL = 12 * time.Hour

	// shellPlain are characters without special meaning in a shell.
	shellPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-"
)

// index is the page that lists the systems, with tokens signed on each request.
type index struct {
	base, data string
	// console is the URL of the database's console, or "" if it is turned off.
	console string
	// signing is the command that signs other tokens, without system and user. It is "" for a demo in memory, whose keys no other
	// process has.
	signing string
	issuer  func(system string) *auth.Issuer
	systems []system.System
	client  *dynamodb.Client
}

// signing returns the command that signs tokens with the keys in a directory. It is "" for a demo in memory, whose data is "".
func signing(program, data string) string {
	switch {
	case data == "":
		return ""
	case filepath.Clean(data) == filepath.Clean(defaultData):
		return program + " token"
	case strings.Trim(data, shellPlain) == "":
		return program + " token --data " + data
	default:
		return program + " token --data '" + strings.ReplaceAll(data, "'", `'\''`) + "'"
	}
}

func (x *index) register(h *run.Host) {
	page := web.App("demo", web.Page{Tokens: tokensPath, Data: x.shown})
	h.Handle("GET /{$}", page)
	h.Handle("GET /assets/", page)
	h.Handle("GET /status", http.HandlerFunc(x.status))
	for name, text := range designs {
		h.Handle("GET /designs/"+name+".design.yaml", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = w.Write(text)
		}))
	}
}

// shownSystem is a system on the page.
type shownSystem struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	About string `json:"about"`
	// Admins reports whether the system has admins.
	Admins bool `json:"admins"`
	// Token is a token of indexSub, who is not an admin.
	Token string `json:"token"`
	// Lines are shell commands: they sign a token into a variable and call the system with it.
	Lines []string `json:"lines"`
	// Design is the path of the design, or "" if there is none.
	Design string `json:"design,omitempty"`
	// Tables are the system's tables in the console, or none without a console.
	Tables []shownTable `json:"tables,omitempty"`
}

// shownTable is a table with its address in the console, which shows it according to its design.
type shownTable struct {
	Name    string `json:"name"`
	Console string `json:"console"`
}

// shown returns the page's data.
func (x *index) shown(*http.Request) any {
	list := make([]shownSystem, 0, len(x.systems))
	for _, s := range x.systems {
		token, err := x.issuer(s.Name).Mint(auth.Claims{Sub: indexSub, LogIn: rand.Text(), TTL: indexTTL})
		if err != nil {
			panic(err) // a bug, logged and reported like any panic
		}
		of := shownSystem{Name: s.Name, Title: s.Title, About: s.About, Admins: s.AdminGroup != "", Token: token, Lines: x.lines(s)}
		if designs[s.Name] != nil {
			of.Design = "/designs/" + s.Name + ".design.yaml"
		}
		for _, t := range s.Tables(run.DefaultStage) {
			if x.console != "" {
				name := *t.Create.TableName
				of.Tables = append(of.Tables, shownTable{name, x.console + "#/tables/" + url.PathEscape(name) + "?view=entities"})
			}
		}
		list = append(list, of)
	}
	return map[string]any{"systems": list, "sub": indexSub, "signing": x.signing, "data": x.data}
}

// lines returns commands to be pasted one after the other, which contain the token once.
func (x *index) lines(s system.System) []string {
	sign := func(variable, more string) string {
		return variable + "=$(curl -sS " + x.base + tokensPath + " -d system=" + s.Name + more + ")"
	}
	lines := []string{sign("TOKEN", "")}
	if s.AdminGroup != "" {
		lines = append(lines, sign("ADMIN", " -d admin=true"))
	}
	if len(s.Examples) > 0 {
		variable := "$TOKEN"
		if len(s.Examples[0].Groups) > 0 {
			variable = "$ADMIN"
		}
		header := "Authorization: Bearer " + variable
		lines = append(lines, strings.Replace(s.Examples[0].Curl(x.base+"/"+s.Name, variable), "'"+header+"'", `"`+header+`"`, 1))
	}
	return lines
}

// status reports how much is in the database.
func (x *index) status(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second) //nolint:mnd // as operations have
	defer cancel()
	var found struct {
		Tables int   `json:"tables"`
		Items  int64 `json:"items"`
		Bytes  int64 `json:"bytes"`
	}
	for _, s := range x.systems {
		for _, t := range s.Tables(run.DefaultStage) {
			described, err := x.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: t.Create.TableName})
			if err != nil {
				panic(err) // the systems have created their tables
			}
			found.Tables++
			found.Items += aws.ToInt64(described.Table.ItemCount)
			found.Bytes += aws.ToInt64(described.Table.TableSizeBytes)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(found)
}
