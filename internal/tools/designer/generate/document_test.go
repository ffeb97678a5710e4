package generate

import (
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/monotable/monotable/design/table"
)

// TestRuntimesReadDescriptors tests that the TypeScript and Python runtimes read every field of descriptors that the Go
// runtime reads. A new field in package table fails here until they do, so that no generated program ignores part of its
// design.
func TestRuntimesReadDescriptors(t *testing.T) {
	text := func(files fs.FS, name string) string {
		t.Helper()
		out, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	descriptors := text(typescriptRuntime, "typescript/runtime/descriptor.ts")
	link := text(pythonRuntime, "python/runtime/link.py")
	// Fields that are not for the runtimes, because the generator uses them.
	printed := map[string]bool{"Table.TTLAttr": true, "Read.Count": true, "PersonPart.Keep": true, "PersonPart.Expires": true}
	met := map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || met[of] || path.Base(of.PkgPath()) != "schema" {
			return
		}
		met[of] = true
		for f := range of.Fields() {
			if look(f.Type); f.Anonymous || !f.IsExported() {
				continue
			}
			name := lowerCamel(f.Name)
			if !regexp.MustCompile(`\b` + name + `\??: `).MatchString(descriptors) {
				t.Errorf("descriptor.ts has no %s of %s", name, of.Name())
			}
			if !strings.Contains(link, `"`+name+`"`) && !printed[of.Name()+"."+f.Name] {
				t.Errorf("link.py does not read %s of %s", name, of.Name())
			}
		}
	}
	for _, of := range []any{table.Table{}, table.Entity{}, table.Read{}, table.Collection{}, table.Write{}, table.Person{}} {
		look(reflect.TypeOf(of))
	}
	if len(met) < 20 {
		t.Errorf("only %d descriptors were looked at", len(met))
	}
}
