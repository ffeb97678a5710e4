package cartaporte

import (
	"cmp"
	"embed"
	"encoding/csv"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed catalogos/*.csv
var catalogFiles embed.FS

// entry is a line of a catalogue, by column name.
type entry map[string]string

// catalogs holds the catalogues by name and key. They are read once and never change.
var catalogs = sync.OnceValue(func() map[string]map[string]entry {
	files, err := catalogFiles.ReadDir("catalogos")
	if err != nil {
		panic(err) // the catalogues are embedded
	}
	all := map[string]map[string]entry{}
	for _, f := range files {
		all[strings.TrimSuffix(f.Name(), ".csv")] = readCatalog(f.Name())
	}
	return all
})

func readCatalog(name string) map[string]entry {
	file, err := catalogFiles.Open(path.Join("catalogos", name))
	if err != nil {
		panic(err)
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.Comment = '#'
	lines, err := reader.ReadAll()
	if err != nil {
		panic(fmt.Sprintf("catalogue %s: %v", name, err))
	}
	read := map[string]entry{}
	for _, line := range lines[1:] {
		e := entry{}
		for i, column := range lines[0] {
			e[column] = line[i]
		}
		read[e["clave"]] = e
	}
	return read
}

// Catalogo names a catalogue.
type Catalogo string

// The catalogues.
const (
	RegimenFiscal        Catalogo = "regimen_fiscal"
	UsoCFDI              Catalogo = "uso_cfdi"
	TipoPermiso          Catalogo = "tipo_permiso"
	ConfigAutotransporte Catalogo = "config_autotransporte"
	SubTipoRem           Catalogo = "sub_tipo_rem"
	FiguraTransporte     Catalogo = "figura_transporte"
	ClaveUnidad          Catalogo = "clave_unidad"
	MotivoCancelacion    Catalogo = "motivo_cancelacion"
	segmento             Catalogo = "segmento_prod_serv"
	estado               Catalogo = "estado"
)

const yes = "si"

// find returns the line of a key.
func (c Catalogo) find(key string) (entry, bool) {
	e, ok := catalogs()[string(c)][key]
	return e, ok
}

// Tiene reports whether the catalogue has a key.
func (c Catalogo) Tiene(key string) bool {
	_, ok := c.find(key)
	return ok
}

// aplica reports whether a key applies to a kind of taxpayer; generic RFCs are exempt.
func (c Catalogo) aplica(key string, p Persona) bool {
	e, ok := c.find(key)
	return ok && (p == Generico || e[string(p)] == yes)
}

// ConRemolque reports whether a vehicle configuration includes a trailer.
func ConRemolque(config string) bool {
	e, ok := ConfigAutotransporte.find(config)
	return ok && e["remolque"] == yes
}

const (
	postalLength  = 5
	prodLength    = 8
	prefixLength  = 2
	decimalDigits = "0123456789"
)

// CodigoPostal reports whether a text is a postal code of a state.
func CodigoPostal(code, state string) bool {
	e, ok := estado.find(state)
	if !ok || !digits(code, postalLength) {
		return false
	}
	prefix := code[:prefixLength]
	return e["desde"] <= prefix && prefix <= e["hasta"]
}

// ClaveProdServ reports whether a text has the form of a product key: eight digits that begin with an existing segment.
func ClaveProdServ(key string) bool {
	return digits(key, prodLength) && segmento.Tiene(key[:prefixLength])
}

// digits reports whether a text consists of exactly n digits.
func digits(text string, n int) bool {
	return len(text) == n && strings.Trim(text, decimalDigits) == ""
}

// Linea is a key with its description.
type Linea struct{ Clave, Descripcion string }

// Buscar finds the lines whose key starts with the text, then those whose description has, for each search word, a word that
// starts with it. It ignores accents and case, and returns the lines in key order.
func (c Catalogo) Buscar(text string, most int) []Linea {
	terms := strings.Fields(plain(text))
	var byKey, byWords []Linea
	for _, key := range slices.Sorted(maps.Keys(catalogs()[string(c)])) {
		e := catalogs()[string(c)][key]
		line := Linea{key, cmp.Or(e["descripcion"], e["nombre"])}
		switch words := " " + plain(line.Descripcion); {
		case strings.HasPrefix(plain(key), strings.Join(terms, " ")):
			byKey = append(byKey, line)
		case !slices.ContainsFunc(terms, func(w string) bool { return !strings.Contains(words, " "+w) }):
			byWords = append(byWords, line)
		}
	}
	all := slices.Concat(byKey, byWords)
	return all[:min(len(all), most)]
}

// Descripcion returns a key's description, or "" if the key is not in the catalogue.
func (c Catalogo) Descripcion(key string) string {
	e, _ := c.find(key)
	return cmp.Or(e["descripcion"], e["nombre"])
}

var withoutAccents = strings.NewReplacer("á", "a", "é", "e", "í", "i", "ó", "o", "ú", "u", "ü", "u", "ñ", "n", "(", " ", "-", " ", ",", " ")

// plain normalises a text for searching.
func plain(text string) string { return withoutAccents.Replace(strings.ToLower(text)) }
