package transporteapp_test

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/databasetest"
	"github.com/monotable/monotable/systems/internal/designcheck"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/transporteapp"
)

const today = "transporteapp.design.yaml"

// newer lists what companies have had since the introduction of members and expiries.
var newer = struct{ entities, fields, attributes []string }{ //nolint:gochecknoglobals // a list
	entities:   []string{"Miembro", "Invitacion", "Act"},
	fields:     []string{"User.numPropietarios", "Conductor.vence", "Vehiculo.vence", "Remolque.vence"},
	attributes: []string{"numPropietarios", "vence", "GSI3PK", "GSI3SK"},
}

// older writes the previous design: the same items without access patterns, which a migration ignores.
func older(t *testing.T) string {
	t.Helper()
	d, err := design.Load(today)
	if err != nil {
		t.Fatal(err)
	}
	before := design.Design{Version: d.Version, Name: d.Name, Go: d.Go, Tenant: d.Tenant, Person: d.Person, Tables: d.Tables, Enums: d.Enums, Structs: d.Structs}
	before.Tables[0].Stream = ""
	before.Tables[0].Indexes = slices.DeleteFunc(before.Tables[0].Indexes, func(x *design.Index) bool { return x.Name == "GSI3" })
	for _, e := range d.Entities {
		if slices.Contains(newer.entities, e.Name) {
			continue
		}
		e.Entries = slices.DeleteFunc(e.Entries, func(x *design.Entry) bool { return x.Index == "GSI3" })
		e.Fields = slices.DeleteFunc(e.Fields, func(f *design.Field) bool { return slices.Contains(newer.fields, e.Name+"."+f.Name) })
		before.Entities = append(before.Entities, e)
	}
	text, err := before.JSON()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "old.design.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestOlderTables: tables of the previous design are not opened, and the error says what differs. The README's commands turn
// their items into what the system would have stored, and a company's founder continues as before.
func TestOlderTables(t *testing.T) {
	t.Parallel()
	if databasetest.Other() {
		t.Skip("the command finds the test's database in our own server only")
	}
	v := open(t, transporteapp.Options{}, ana, bruno)
	driverID, vehicleID, trailerID := fleet(t, v, ana, "f")
	trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t-1", cartaTrip())
	fill(t, v, ana, trip.Carta.CartaID, 3)
	put[object](t, v, ana, "/viajes/"+trip.ViajeID+"/recursos", object{"conductorId": driverID, "vehiculoId": vehicleID, "remolqueId": trailerID})
	want := stored(t, v)
	old, at := older(t), v.Database.Address(t).Endpoint
	asBefore(t, v, old, at)

	ensure := func() error {
		return run.EnsureTables(t.Context(), v.Database.DynamoDB, transporteapp.System(transporteapp.Options{}).Tables(""))
	}
	err := ensure()
	for _, part := range []string{"index GSI3 is none", "stored User.numPropietarios is missing", "stored Conductor.vence is missing", "monotable migrate"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("tables of before: %v, want %q", err, part)
		}
	}
	values := []string{
		"--fill", "User.numPropietarios=1", "--fill", "Conductor.vence=licencia.vigencia",
		"--make", "Miembro=User", "--fill", "Miembro.miembroId=userId", "--fill", "Miembro.nombre=fullName", "--fill", "Miembro.rol='propietario'",
	}
	for _, step := range [][]string{{"run"}, {"run", "--deployed", "dual-writes"}, {"finish", "--yes"}} {
		designcheck.Command(t, slices.Concat([]string{"migrate", step[0], old, today, "--endpoint", at}, step[1:], values)...)
	}
	if diff := gocmp.Diff(want, stored(t, v)); diff != "" {
		t.Errorf("the stored items differ from those that the system would store:\n%s", diff)
	}
	if err := ensure(); err != nil {
		t.Errorf("the tables of the new design: %v", err)
	}
	if found := get[page[transporteapp.ViajeResumen]](t, v, ana, "/viajes").Items; len(found) != 1 || found[0].ViajeID != trip.ViajeID {
		t.Errorf("the founder sees the trips %+v", found)
	}
	if members := get[page[transporteapp.Miembro]](t, v, bruno, "/miembros").Items; len(members) != 1 || members[0].MiembroID != bruno {
		t.Errorf("the members of another company are %+v", members)
	}
}

// asBefore converts the table and its items to an older design.
func asBefore(t *testing.T, v *apitest.Server, old, endpoint string) {
	t.Helper()
	var items []table.Item
	everything(t, v, func(it table.Item) {
		if kind := text(it, "entityType"); kind == "MIEMBRO" || kind == "ACT" || kind == "INVITACION" {
			return
		}
		before := maps.Clone(it)
		for _, name := range newer.attributes {
			delete(before, name)
		}
		items = append(items, before)
	})
	name := aws.String("TransporteApp")
	if _, err := v.Database.DynamoDB.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: name}); err != nil {
		t.Fatal(err)
	}
	designcheck.Command(t, "provision", old, "--apply", "--endpoint", endpoint)
	for _, it := range items {
		if _, err := v.Database.DynamoDB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: it}); err != nil {
			t.Fatal(err)
		}
	}
}
