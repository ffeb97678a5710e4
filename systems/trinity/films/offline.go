package films

import (
	"context"
	_ "embed"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
)

// catalogue has one film per line: id, media type, year, genres, title, and an original summary.
//
//go:embed catalogue.tsv
var catalogue string

// offline is the catalogue as a Source.
type offline []Film

// Offline returns the built-in catalogue.
func Offline() Source { return readCatalogue() }

var readCatalogue = sync.OnceValue(func() offline { //nolint:gochecknoglobals // is read once
	list, err := parseCatalogue(catalogue)
	if err != nil {
		panic(err) // it is embedded, and tests read it
	}
	return list
})

func parseCatalogue(text string) ([]Film, error) {
	const columns = 6
	var list []Film
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) != columns {
			return nil, fmt.Errorf("catalogue: %q has %d columns, want %d", line, len(cells), columns)
		}
		id, err := strconv.ParseInt(cells[0], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("catalogue: %w", err)
		}
		f := Film{ID: id, MediaType: cells[1], ReleaseDate: cells[2], Title: cells[4], Overview: cells[5]}
		for genre := range strings.SplitSeq(cells[3], ",") {
			id, err := strconv.ParseInt(genre, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("catalogue: %s: %w", f.Title, err)
			}
			f.GenreIDs = append(f.GenreIDs, id)
		}
		list = append(list, f)
	}
	return list, nil
}

// Films implements Source. The seed determines which of the matching films are returned, and their order.
func (o offline) Films(_ context.Context, q Query) ([]Film, error) {
	var list []Film
	for _, f := range o {
		if q.fits(f) {
			list = append(list, f)
		}
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(q.Seed))           // never fails
	r := rand.New(rand.NewPCG(h.Sum64(), 0)) //nolint:gosec // nothing is secret
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:min(q.Count, len(list))], nil
}
