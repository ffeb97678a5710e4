package sam

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode"

	"github.com/goccy/go-yaml"
)

// The pipeline's actions, by major version.
const (
	checkout    = "actions/checkout@v5"
	setupGo     = "actions/setup-go@v6"
	upload      = "actions/upload-artifact@v4"
	download    = "actions/download-artifact@v5"
	credentials = "aws-actions/configure-aws-credentials@v5"
	setupSAM    = "aws-actions/setup-sam@v2"

	runner = "ubuntu-24.04"
)

// WritePipeline writes the system's GitHub Actions workflow: it tests a change, and deploys the binary, which is built once, to
// the stage dev and then to prod.
//
//	pull request ─▶ design: check, test, races, diff ─▶ tests
//	main         ─▶ the same ─▶ binary ─▶ environment NAME-dev ─▶ environment NAME-prod
//
// Each parameter of the template is a variable of the environment, or a secret if it is secret. The environment's rules determine
// who approves prod. The workflow accesses AWS with the role that the environment names (OpenID Connect), so there are no stored
// keys.
func (t Template) WritePipeline(tb testing.TB, w io.Writer) {
	tb.Helper()
	parameters := t.parameters(t.provision(tb))
	out := of(
		"name", t.Name,
		"on", of("push", of("branches", []string{"main"}, "paths", t.paths()), "pull_request", of("paths", t.paths()), "workflow_dispatch", of()),
		"permissions", of("contents", "read"),
		"concurrency", of("group", t.Name+"-${{ github.ref }}", "cancel-in-progress", "${{ github.event_name == 'pull_request' }}"),
		"jobs", of("test", t.testJob(), "dev", t.deployJob("dev", "test", parameters), "prod", t.deployJob("prod", "dev", parameters)),
	)
	text, err := yaml.MarshalWithOptions(out, yaml.IndentSequence(true), yaml.UseLiteralStyleIfMultiline(true))
	if err != nil {
		tb.Fatal(err)
	}
	head := fmt.Sprintf("# Written by go generate ./systems/%s; DO NOT EDIT. Its place is .github/workflows/%s.yaml; ../../README.md (Pipelines) says what it\n# needs.\n", t.Name, t.Name)
	if _, err := io.WriteString(w, head+string(text)); err != nil {
		tb.Fatal(err)
	}
}

// paths are the paths whose changes can affect the system: everything that is built into it.
func (t Template) paths() []string {
	return []string{"systems/" + t.Name + "/**", "systems/internal/**", "design/**", "internal/**", "consumer/**", "web/**", "*.go", "go.mod", "go.sum"}
}

// testJob tests the system and builds the binary to deploy.
func (t Template) testJob() object {
	design := "systems/" + t.Name + "/" + t.Design
	return of(
		"runs-on", runner, "timeout-minutes", 30, //nolint:mnd // said by the name
		"steps", []object{
			of("uses", checkout, "with", of("fetch-depth", 0)),
			of("uses", setupGo, "with", of("go-version-file", "go.mod")),
			step("The design", "go build -o bin/monotable ./cmd/monotable",
				"bin/monotable check "+design, "bin/monotable test "+design, "bin/monotable races "+design),
			// The label permits changes that break stored data, once the data has been migrated.
			of("name", "What the change does to stored data", "shell", "bash", // with pipefail
				"if", "github.event_name == 'pull_request' && !contains(github.event.pull_request.labels.*.name, 'migrated')",
				"env", of("BASE", "origin/${{ github.base_ref }}"), "run", lines(
					`git show "$BASE:`+design+`" > "$RUNNER_TEMP/old.yaml"`,
					`bin/monotable diff "$RUNNER_TEMP/old.yaml" `+design+` | tee -a "$GITHUB_STEP_SUMMARY"`)),
			// The page tests need Debian's Chromium; the repository's make test runs them.
			of("name", "Tests", "env", of("WEBTEST", "off"), "run", "go test ./systems/"+t.Name+"/... ./systems/internal/..."),
			of("name", "The binary", "env", of("GOOS", "linux", "GOARCH", "arm64", "CGO_ENABLED", "0"),
				"run", "go build -trimpath -tags lambda.norpc -o systems/"+t.Name+"/lambda/dist/bootstrap ./systems/"+t.Name+"/lambda"),
			of("uses", upload, "with", of("name", t.Name, "path", "systems/"+t.Name+"/lambda", "if-no-files-found", "error")),
		},
	)
}

// deployJob deploys the binary to a stage after the previous job has succeeded.
func (t Template) deployJob(stage, after string, parameters object) object {
	environment := of("STAGE", stage)
	overrides := []string{`"` + stageParameter + `=$STAGE"`}
	for _, p := range parameters {
		name, _ := p.Key.(string)
		if name == stageParameter {
			continue
		}
		variable := variableOf(name)
		environment = append(environment, of(variable, valueOf(variable, p.Value.(object)))...) //nolint:forcetypeassert // a parameter is a mapping
		overrides = append(overrides, fmt.Sprintf(`"%s=$%s"`, name, variable))
	}
	return of(
		"needs", after, "if", "github.ref == 'refs/heads/main'", "runs-on", runner, "timeout-minutes", 60, //nolint:mnd // said by the name
		"environment", of("name", t.Name+"-"+stage, "url", "${{ steps.deployed.outputs.url }}"),
		"permissions", of("contents", "read", "id-token", "write"),
		"steps", []object{
			of("uses", download, "with", of("name", t.Name)),
			of("run", "chmod +x dist/bootstrap"), // artifacts lose file modes
			of("uses", credentials, "with", of("role-to-assume", "${{ vars.AWS_ROLE_ARN }}", "aws-region", "${{ vars.AWS_REGION }}")),
			of("uses", setupSAM, "with", of("use-installer", true)),
			of("run", "sam validate --lint --template-file template.yaml"),
			of("name", "Deploy", "env", environment, "run", lines(
				"sam deploy --template-file template.yaml --stack-name "+t.Name+`-"$STAGE" --resolve-s3 \`,
				`  --capabilities CAPABILITY_IAM --no-confirm-changeset --no-fail-on-empty-changeset \`,
				"  --parameter-overrides "+strings.Join(overrides, " \\\n    "))),
			of("name", "Wait for a response", "id", "deployed", "run", t.ask(stage)),
		},
	)
}

// ask requests a public page of the stage, or reports that none is public.
func (t Template) ask(stage string) string {
	path, want := "/", "401"
	for _, r := range t.Routes {
		if r.Method != http.MethodGet || strings.Contains(r.Path, "{") {
			continue
		}
		if path == "/" {
			path = r.Path
		}
		if !r.Token {
			path, want = r.Path, "200"
			break
		}
	}
	return lines(
		"url=$(aws cloudformation describe-stacks --stack-name "+t.Name+"-"+stage+` --query "Stacks[0].Outputs[?OutputKey=='Url'].OutputValue" --output text)`,
		`echo "url=$url" >> "$GITHUB_OUTPUT"`,
		`status=$(curl -sS --retry 5 --max-time 20 -o /dev/null -w '%{http_code}' "$url`+path+`")`,
		`echo "GET $url`+path+`: $status, want `+want+`"`,
		`[ "$status" = `+want+` ]`,
	)
}

func step(name string, commands ...string) object {
	return of("name", name, "run", lines(commands...))
}

func lines(commands ...string) string { return strings.Join(commands, "\n") + "\n" }

// valueOf returns the source of a parameter's value: a secret, or a variable with the parameter's default.
func valueOf(variable string, parameter object) string {
	if get(parameter, "NoEcho") == true {
		return "${{ secrets." + variable + " }}"
	}
	if value := fmt.Sprint(get(parameter, "Default")); get(parameter, "Default") != nil && value != "" {
		return "${{ vars." + variable + " || '" + value + "' }}"
	}
	return "${{ vars." + variable + " }}"
}

// variableOf converts a parameter's name to a variable's name: MailURL becomes MAIL_URL.
func variableOf(parameter string) string {
	var out strings.Builder
	runes := []rune(parameter)
	for i, c := range runes {
		begins := i > 0 && unicode.IsUpper(c) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if begins {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToUpper(c))
	}
	return out.String()
}
