package catfecito

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
)

// sampleShelfText is the sample shop's catalogue: one line per category (its id, name and description), followed by one line per
// product (an empty field, its name, price and description).
//
//go:embed sample_shelf.tsv
var sampleShelfText string

// sampleCategoryShelf is a category with its products, which only have the fields in the text.
type sampleCategoryShelf struct {
	category catfecitodb.Category
	products []catfecitodb.Product
}

// sampleShelves returns the categories in text order.
var sampleShelves = sync.OnceValue(func() []sampleCategoryShelf {
	var shelves []sampleCategoryShelf
	for line := range strings.Lines(sampleShelfText) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if fields[0] != "" {
			shelves = append(shelves, sampleCategoryShelf{category: catfecitodb.Category{CategoryID: fields[0], Name: fields[1], Description: fields[2]}})
			continue
		}
		var price Money
		if err := price.UnmarshalText([]byte(fields[2])); err != nil {
			panic(fmt.Sprintf("catfecito: the sample's shelf: %s: %v", fields[1], err))
		}
		last := &shelves[len(shelves)-1]
		last.products = append(last.products, catfecitodb.Product{Name: fields[1], Price: int64(price), Description: fields[3]})
	}
	return shelves
})
