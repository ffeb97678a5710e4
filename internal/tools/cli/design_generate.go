package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/generate"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

func newGenerate(env Environment) *cobra.Command {
	var out, name, lang string
	var check, asJSON bool
	cmd := &cobra.Command{
		Use:   "generate FILE",
		Short: "Generate the Go, TypeScript or Python code of a design",
		Long: `Generate the Go package of a design: a type for each entity, a method for each read, collection and write, and the
requests that create its tables. The package works with any DynamoDB client, for AWS or for this database, and only
needs the SDK and github.com/monotable/monotable/design/table.

Each method does exactly what the design declares, and keeps copies, index entries, markers and counters consistent.
Its comment shows the request, its cost and its errors.

  db, err := shop.New(dynamodb.NewFromConfig(config), shop.Config{Table: "shop", CursorKey: key})
  order, err := db.OrderByID(ctx, shop.OrderByIDInput{OrderID: id, UserID: caller})
  if errors.Is(err, table.ErrNotFound) { … }

The directory may contain files of your own, which are never touched. Generated files are overwritten, or removed when
the design no longer needs them. Keep the package in sync with the design by

  //go:generate monotable generate shop.design.yaml -o .

and use --check to fail the build when the two differ.

With --lang typescript, it generates ES modules for Node: a class with the same methods, types for parameters and
results, and the runtime, so that they only need @aws-sdk/client-dynamodb. They store the same items as the Go
package. See docs/typescript.md.

  const db = new DB(new DynamoDBClient({}), { tables: { Shop: "shop" }, cursorKey });
  const order = await db.orderByID({ orderId: id, userId: caller });

With --lang python, it generates a package for Python 3.10 or newer, typed for mypy --strict, that only needs boto3.
See docs/python.md.

  db = DB(boto3.client("dynamodb"), tables={"Shop": "shop"}, cursor_key=key)
  order = db.order_by_id(order_id=id, user_id=caller)`,
		Example: `  monotable generate shop.design.yaml
  monotable generate shop.design.yaml -o internal/shop --package shop
  monotable generate shop.design.yaml --lang typescript -o src/shop
  monotable generate shop.design.yaml --lang python -o src/shop
  monotable generate shop.design.yaml --check`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if name != "" && (!token.IsIdentifier(name) || name != strings.ToLower(name)) {
				return fmt.Errorf("--package %q: want the name of a Go package, such as shop", name)
			}
			if err := checkLanguage(lang, out, name); err != nil {
				return err
			}
			files, dir, err := generated(env, args[0], lang, name)
			if err != nil {
				return err
			}
			if out == "" {
				out = dir
			}
			if check {
				return compareGenerated(env, out, files)
			}
			if err := generate.Write(out, files); err != nil {
				return err
			}
			if asJSON {
				return printGenerated(env, out, files)
			}
			for _, f := range files {
				fmt.Fprintf(env.Stdout, "%s\n", filepath.Join(out, f.Name))
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "the directory to write; default: named after the package")
	cmd.Flags().StringVar(&lang, "lang", goLanguage, "the language: go, typescript or python")
	cmd.Flags().StringVar(&name, "package", "", "the name of the Go package; default: from the design")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the written files as JSON")
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; the exit status is 1 if the directory is out of date")
	return cmd
}

// The languages of --lang.
const (
	goLanguage         = "go"
	typescriptLanguage = "typescript"
	pythonLanguage     = "python"
)

// checkLanguage rejects an unknown language, and flags that do not apply to the language.
func checkLanguage(lang, out, name string) error {
	switch {
	case lang == goLanguage:
		return nil
	case lang != typescriptLanguage && lang != pythonLanguage:
		return fmt.Errorf("--lang %q: want %s, %s or %s", lang, goLanguage, typescriptLanguage, pythonLanguage)
	case name != "":
		return fmt.Errorf("--package is for Go only: with --lang %s, the directory gives the name", lang)
	case out == "":
		return fmt.Errorf("--lang %s needs an output directory, such as -o src/shop", lang)
	default:
		return nil
	}
}

func printGenerated(env Environment, dir string, files []generate.File) error {
	written := make([]string, len(files))
	for i, f := range files {
		written[i] = filepath.Join(dir, f.Name)
	}
	return json.NewEncoder(env.Stdout).Encode(map[string][]string{"files": written})
}

// generated generates the code for a design's file, and returns the default name of its directory.
func generated(env Environment, file, lang, name string) (files []generate.File, dir string, err error) {
	d, err := design.Load(file)
	if err != nil {
		return nil, "", designError(env, err)
	}
	if name == "" {
		name = d.Go.Package
	}
	p, err := lower.Lower(d)
	switch {
	case err != nil:
	case lang == typescriptLanguage:
		files, err = generate.TypeScript(p)
	case lang == pythonLanguage:
		files, err = generate.Python(p)
	default:
		files, err = generate.Package(p, name)
	}
	if err != nil {
		return nil, "", faultsError(env, d, err)
	}
	return files, name, nil
}

// faultsError prints all reasons why a design cannot be run, each with its line, and ends the
// command.
func faultsError(env Environment, d *design.Design, err error) error {
	joined, several := err.(interface{ Unwrap() []error })
	if !several {
		return err
	}
	for _, part := range joined.Unwrap() {
		f, ok := errors.AsType[*lower.FaultError](part)
		switch {
		case !ok:
			fmt.Fprintln(env.Stderr, part)
		case d.Source != nil && f.Pos.Line > 0:
			fmt.Fprintf(env.Stderr, "%s:%s\n", d.Source.Name, f)
			if excerpt := d.Source.Excerpt(f.Pos); excerpt != "" {
				fmt.Fprintln(env.Stderr, excerpt)
			}
		default:
			fmt.Fprintln(env.Stderr, f)
		}
	}
	return errReported
}

// compareGenerated reports where a directory first differs from a package.
func compareGenerated(env Environment, dir string, files []generate.File) error {
	d, err := generate.Compare(dir, files)
	if err != nil || d == nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%s: regenerate it with monotable generate\n", d)
	return errReported
}
