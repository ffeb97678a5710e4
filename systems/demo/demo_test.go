package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/systems/internal/system"
	"github.com/monotable/monotable/systems/internal/systemtest"
)

func systems() []system.System { return []system.System{systemtest.Notes(systemtest.Hooks{})} }

// running is a demo in this process.
type running struct {
	web, database string
	stop          context.CancelFunc
	status        chan int
	ended         bool
	stderr        *bytes.Buffer // complete once the demo has ended
}

// serve starts a demo with the notes and returns once it serves. The demo ends with the test, after the pages that the test has
// opened.
func serve(t *testing.T, args ...string) *running {
	t.Helper()
	return serveAll(t, systems(), args...)
}

func serveAll(t *testing.T, all []system.System, args ...string) *running {
	t.Helper()
	read, write := io.Pipe()
	r := &running{status: make(chan int, 1), stderr: &bytes.Buffer{}}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context())) // the test's own context ends before its pages close
	r.stop = stop
	env := Environment{
		Program: "bin/demo", Database: "bin/monotable", Getenv: func(string) string { return "" }, Stdout: write, Stderr: r.stderr,
	}
	go func() {
		status := runWith(ctx, append([]string{"serve", "--addr", "127.0.0.1:0", "--web", "127.0.0.1:0"}, args...), env, all)
		_ = write.Close()
		r.status <- status
	}()
	t.Cleanup(func() { r.end(t) })
	for lines := bufio.NewScanner(read); lines.Scan(); {
		line := lines.Text()
		if found := regexp.MustCompile(`^monotable: DynamoDB API at (http://\S+) `).FindStringSubmatch(line); found != nil {
			r.database = found[1]
		}
		if found := regexp.MustCompile(`^systems at (http://\S+)/$`).FindStringSubmatch(line); found != nil {
			r.web = found[1]
		}
		if strings.HasSuffix(line, "/"+all[len(all)-1].Name+"/docs") { // the last line
			go func() { _, _ = io.Copy(io.Discard, read) }()
			return r
		}
	}
	r.ended = true
	t.Fatalf("the demo ended: status %d, %s", <-r.status, r.stderr)
	return nil
}

// end stops the demo before its test ends. Only tests without pages may call it, because a page that still loads something would
// fail.
func (r *running) end(t *testing.T) {
	t.Helper()
	if r.ended {
		return
	}
	r.ended = true
	r.stop()
	if status := <-r.status; status != 0 {
		t.Errorf("status %d: %s", status, r.stderr)
	}
}

// command runs another command of the demo, and returns its output.
func command(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	return commandOf(t, systems(), args...)
}

func commandOf(t *testing.T, all []system.System, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	env := Environment{Program: "bin/demo", Getenv: func(string) string { return "" }, Stdout: &out, Stderr: &err}
	status = runWith(t.Context(), args, env, all)
	return status, out.String(), err.String()
}

// shell runs a pasted line.
func shell(t *testing.T, line string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", line).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// page is the data of the demo's page.
type page struct {
	Systems []shownSystem
	Signing string
}

func onPage(t *testing.T, text string) page {
	t.Helper()
	found := regexp.MustCompile(`<meta name="data" content="([^"]*)">`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("the page has no data:\n%s", text)
	}
	var p page
	if err := json.Unmarshal([]byte(html.UnescapeString(found[1])), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestServe: everything that the page offers works as shown.
func TestServe(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatal("the lines that the page shows are tried with curl: install it")
	}
	data := filepath.Join(t.TempDir(), "data")
	r := serve(t, "--data", data)
	index := systemtest.Call(t, "GET", r.web+"/", "")
	if index.Status != http.StatusOK || !strings.HasPrefix(index.Header.Get("Content-Type"), "text/html") {
		t.Fatalf("index: %d %s", index.Status, index.Header.Get("Content-Type"))
	}
	for _, link := range regexp.MustCompile(`(?:href|src)="(assets/[^"]*)"`).FindAllStringSubmatch(index.Body, -1) {
		if response := systemtest.Call(t, "GET", r.web+"/"+link[1], ""); response.Status != http.StatusOK {
			t.Errorf("%s, which the page names: %d", link[1], response.Status)
		}
	}
	page := onPage(t, index.Body)
	if response := shell(t, strings.Join(page.Systems[0].Lines, "\n")); !strings.Contains(response, `"text":"it's here"`) {
		t.Errorf("the page's curl command: %s", response)
	}
	if page.Signing != "bin/demo token --data "+data {
		t.Errorf("the page signs other tokens with %q", page.Signing)
	}
	if docs := systemtest.Call(t, "GET", r.web+"/notes/docs", "").Body; !strings.Contains(docs, `home&#34;:&#34;/&#34;`) {
		t.Errorf("the system's page has no link to the one of all:\n%s", docs)
	}
	token := page.Systems[0].Token
	if response := systemtest.Call(t, "GET", r.web+"/notes/notes", "", "Authorization", "Bearer "+token); response.Status != http.StatusOK || !strings.Contains(response.Body, "it's here") {
		t.Errorf("the token of the page: %d %s", response.Status, response.Body)
	}
	status, printed, stderr := command(t, "token", "--system", "notes", "--sub", "u-9", "--data", data)
	if status != 0 {
		t.Fatal(stderr)
	}
	if response := systemtest.Call(t, "GET", r.web+"/notes/notes", "", "Authorization", "Bearer "+strings.TrimSpace(printed)); response.Status != http.StatusOK || !strings.Contains(response.Body, `"items":[]`) {
		t.Errorf("another user's token: %d %s", response.Status, response.Body)
	}
	response := systemtest.Call(t, "POST", r.database+"/", `{}`, "X-Amz-Target", "DynamoDB_20120810.ListTables", "Content-Type", "application/x-amz-json-1.0")
	if !strings.Contains(response.Body, `"notes-dev"`) {
		t.Errorf("the database of the same demo: %d %s", response.Status, response.Body)
	}
	if got := systemtest.Call(t, "GET", r.web+"/nothing", ""); got.Status != http.StatusNotFound {
		t.Errorf("/nothing: %d", got.Status)
	}
	r.end(t)

	// A second demo knows what the first has stored and signed.
	again := serve(t, "--data", data)
	status, printed, stderr = command(t, "token", "--system", "notes", "--sub", "u-123", "--data", data)
	if status != 0 {
		t.Fatal(stderr)
	}
	if response := systemtest.Call(t, "GET", again.web+"/notes/notes", "", "Authorization", "Bearer "+strings.TrimSpace(printed)); !strings.Contains(response.Body, "it's here") {
		t.Errorf("after a restart: %d %s", response.Status, response.Body)
	}
	again.end(t)
}

// TestEverySystem: the command that the page shows for a system works on an empty database, and the tables count its effect.
func TestEverySystem(t *testing.T) {
	t.Parallel()
	all := registered()
	r := serveAll(t, all, "--memory")
	index := systemtest.Call(t, "GET", r.web+"/", "")
	shown := onPage(t, index.Body).Systems
	for n, s := range all {
		lines := strings.Join(shown[n].Lines, "\n")
		if response := shell(t, lines+" -w ' %{http_code}'"); !regexp.MustCompile(` 2\d\d$`).MatchString(response) {
			t.Errorf("%s: %s", s.Name, response)
		}
		if !strings.Contains(lines, r.web+"/"+s.Name+"/") {
			t.Errorf("%s: the lines call another: %s", s.Name, lines)
		}
		for _, path := range []string{"/", "/docs", "/openapi.json", "/health", "/ready"} {
			if response := systemtest.Call(t, "GET", r.web+"/"+s.Name+path, ""); response.Status != http.StatusOK {
				t.Errorf("%s%s: %d %s", s.Name, path, response.Status, response.Body)
			}
		}
	}
	metrics := systemtest.Call(t, "GET", r.web+"/metrics", "").Body
	for _, s := range all {
		if !regexp.MustCompile(`table_calls_total\{pattern="[A-Za-z]+",result="ok",system="` + s.Name + `"\} [1-9]`).MatchString(metrics) {
			t.Errorf("no pattern of %s was counted", s.Name)
		}
	}
	r.end(t)
}

func TestServeInMemory(t *testing.T) {
	t.Parallel()
	r := serve(t, "--memory")
	if response := systemtest.Call(t, "GET", r.web+"/notes/ready", ""); response.Status != http.StatusOK {
		t.Errorf("%d %s", response.Status, response.Body)
	}
	// demo token cannot use keys in memory, so the page does not suggest it.
	if page := onPage(t, systemtest.Call(t, "GET", r.web+"/", "").Body); page.Signing != "" {
		t.Errorf("the page says of tokens: %s", page.Signing)
	}
	r.end(t)
}

// TestSeed loads a sample into a directory, and through the demo that has it open.
func TestSeed(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	status, out, stderr := command(t, "seed", "--system", "notes", "--items", "1k", "--data", data)
	if status != 0 || !strings.HasPrefix(out, "1000 items stored in notes") {
		t.Fatalf("%d: %s%s", status, out, stderr)
	}
	r := serve(t, "--data", data)
	again := []string{"seed", "--system", "notes", "--items", "2k", "--seed", "9", "--data", data}
	if status, out, stderr = command(t, again...); status != 1 || out != "" || !strings.Contains(stderr, "already has items") || !strings.Contains(stderr, "--over") {
		t.Errorf("over existing data: %d: %s%s", status, out, stderr)
	}
	for _, where := range [][]string{{"--endpoint", r.database}, {"--data", data}} { // an open database advertises its API address in its directory
		status, out, stderr = command(t, append([]string{"seed", "--system", "notes", "--items", "2k", "--seed", "9", "--over"}, where...)...)
		if status != 0 || !strings.HasPrefix(out, "2000 items stored in notes") {
			t.Fatalf("%v: %d: %s%s", where, status, out, stderr)
		}
		if told := strings.Contains(stderr, "loading through its API at "+r.database); told != (where[0] == "--data") {
			t.Errorf("%v: %q", where, stderr)
		}
	}
	_, token, _ := command(t, "token", "--system", "notes", "--sub", "u-sample", "--data", data)
	count, cursor := 0, ""
	for range 30 {
		response := systemtest.Call(t, "GET", r.web+"/notes/notes?limit=100&cursor="+cursor, "", "Authorization", "Bearer "+strings.TrimSpace(token))
		count += strings.Count(response.Body, `"id"`)
		found := regexp.MustCompile(`"next":"([^"]+)"`).FindStringSubmatch(response.Body)
		if found == nil {
			break
		}
		cursor = found[1]
	}
	if count != 2000 { // the first thousand have the same ids
		t.Errorf("%d notes exist, want 2000", count)
	}
	r.end(t)
}

// TestSeedOfADirectoryInUse: if the process that has the directory open serves no API, seed fails and changes nothing.
func TestSeedOfADirectoryInUse(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	db, err := monotable.Open(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	status, out, stderr := command(t, "seed", "--system", "notes", "--items", "1k", "--data", data)
	if status != 1 || out != "" || !strings.Contains(stderr, data+" is open in another process") || strings.Contains(stderr, "loading") {
		t.Errorf("%d: %s%s", status, out, stderr)
	}
}

func TestInvalidCommandsAreReported(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	for _, test := range []struct{ args, want string }{
		{"token --system notes --sub u-1 --data " + empty, "start the demo once (bin/demo serve)"},
		{"token --system notes --data " + empty, "--sub: want a user's id"},
		{"token --system notes --sub= --data " + empty, "--sub: want a user's id"},
		{"token --sub u-1 --data " + empty, "--system: name one, such as notes"},
		{"token --system nothing --sub u-1 --data " + empty, "unknown system (want one of notes)"},
		{"token --system notes --admin --sub u-1 --data " + empty, "--admin: notes has no administrators"},
		{"seed --system nothing --data " + empty, "unknown system (want one of notes)"},
		{"seed --data " + empty, "--system: name one, such as notes"},
		{"seed --system notes --items 10 --data " + empty, "--items"},
		{"serve --memory --addr 127.0.0.1:0 --web 256.0.0.1:1", "--web"},
		{"serve --memory --addr 127.0.0.1:0 --web 127.0.0.1:0 --web-cors-origin app.example", `--web-cors-origin: CORS origin "app.example": want an origin such as`},
		{"seed --system notes --endpoint foo", "--endpoint foo: want http://host:port"},
		{"serve --memory --data x", "--memory and --data cannot be combined"},
	} {
		if status, _, stderr := command(t, strings.Fields(test.args)...); status != 1 || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: %d %s, want %q", test.args, status, stderr, test.want)
		}
	}
	if status, out, _ := command(t, "systems"); status != 0 || strings.Join(strings.Fields(out), "|") != "notes|Notes|Notes|of|users." {
		t.Errorf("%d %q", status, out)
	}
}

// TestSigning: the command on the page can be pasted, whatever the directory's name.
func TestSigning(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		"":          "",
		"./data":    "bin/demo token",
		"data/":     "bin/demo token",
		"/tmp/d":    "bin/demo token --data /tmp/d",
		"it's mine": `bin/demo token --data 'it'\''s mine'`,
	} {
		if got := signing("bin/demo", data); got != want {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	}
}

// TestServeHelp: the help is that of this command, and distinguishes both addresses.
func TestServeHelp(t *testing.T) {
	t.Parallel()
	status, out, _ := command(t, "serve", "--help")
	about, _, _ := strings.Cut(out, "Usage:")
	if status != 0 || !strings.Contains(about, "--web ") || !strings.Contains(about, "not authenticated") || !strings.Contains(about, "signs one for anyone") {
		t.Errorf("%d:\n%s", status, about)
	}
}

// TestRegistry: the registered systems are complete and have unique names.
func TestRegistry(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, s := range registered() {
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
		if names[s.Name] {
			t.Errorf("two systems are called %s", s.Name)
		}
		names[s.Name] = true
		if len(s.Examples) == 0 || len(s.Tables("dev")) == 0 {
			t.Errorf("%s has no examples, or no tables", s.Name)
		}
	}
}
