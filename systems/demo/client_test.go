package demo

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const clientProject = `
const [web, token] = process.argv.slice(2);
const at = {};
for (const name of ["appcore", "catfecito", "portfolio", "transporteapp", "trinity"]) {
	const { connect } = await import("@monotable/" + name);
	at[name] = (options) => connect(web + "/" + name, options);
	console.log(name, (await at[name]().GET("/no/such/path")).error.code);
}

const path = { categoryId: "cafes" };
const staff = at.catfecito({ token: () => token });
console.log((await staff.PUT("/categories/{categoryId}", { params: { path }, body: { name: "Cafés", description: "" } })).data.name);
console.log((await at.catfecito().GET("/categories/{categoryId}", { params: { path } })).data.categoryId);

let ended = 0;
const stranger = { token: () => "expired", language: () => "es", ended: () => ended++ };
const refused = await at.catfecito(stranger).GET("/me");
console.log(refused.response.status, refused.error.detail, refused.error.code, ended);
await at.catfecito({ ended: () => ended++ }).GET("/me");
console.log(ended);
`

// TestClientsStandAlone calls a demo with the generated clients from a project that has nothing else but openapi-fetch, on which
// they depend.
func TestClientsStandAlone(t *testing.T) {
	t.Parallel()
	const web = "../../web"
	fetch := filepath.Join(web, "node_modules/openapi-fetch")
	if _, err := os.Stat(fetch); errors.Is(err, os.ErrNotExist) {
		t.Skip("the npm packages of web are not installed: make setup")
	}
	project, data := t.TempDir(), filepath.Join(t.TempDir(), "data")
	packages := map[string]string{"openapi-fetch": fetch}
	for _, s := range registered() {
		packages["@monotable/"+s.Name] = filepath.Join(web, "clients", s.Name)
	}
	for name, from := range packages {
		if err := os.CopyFS(filepath.Join(project, "node_modules", name), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	script := filepath.Join(project, "main.mjs")
	if err := os.WriteFile(script, []byte(clientProject), 0o600); err != nil {
		t.Fatal(err)
	}

	r := serveAll(t, registered(), "--data", data)
	admin := tokenOf(t, data, "--system", "catfecito", "--sub", "u-admin", "--admin")
	out, err := exec.CommandContext(t.Context(), "node", script, r.web, admin).CombinedOutput()
	const want = `appcore not_found
catfecito not_found
portfolio not_found
transporteapp not_found
trinity not_found
Cafés
cafes
401 el token de acceso no es un JWT firmado invalid_token 1
1
`
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
}
