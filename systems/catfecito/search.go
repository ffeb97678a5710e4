package catfecito

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/auth"
)

const (
	// shelfEvery is the interval between checks for products missing from the lists.
	shelfEvery = 24 * time.Hour
	// termsMost is the maximum number of search words used.
	termsMost = 8
	// termBytes is the maximum length of an entry's term, in bytes, as in the design. Names get longer when they are folded.
	termBytes = 400
	// searchPages is how many pages of entries a search reads to fill one page of products.
	searchPages = 5
)

// folded normalises a text exactly like the key function fold, so that entries and search words agree: compatible characters are
// equal, without accents, in lower case, with single spaces. Longer texts are truncated to what an entry can hold.
func folded(text string) string {
	bare := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.M, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text))
	return cut(strings.Join(strings.Fields(bare), " "), termBytes)
}

// wordsOf returns a text's distinct words, sorted.
func wordsOf(text string) []string {
	list := strings.FieldsFunc(folded(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	slices.Sort(list)
	return slices.Compact(list)
}

// entriesOf returns the list entries of a product's name.
func entriesOf(productID, name string) []catfecitodb.EnterProductsLine {
	var list []catfecitodb.EnterProductsLine
	for _, word := range wordsOf(name) {
		list = append(list, catfecitodb.EnterProductsLine{List: catfecitodb.ProductListWords, Term: word, ProductID: productID})
	}
	return append(list, catfecitodb.EnterProductsLine{List: catfecitodb.ProductListShelf, Term: folded(name), ProductID: productID})
}

// keepLists updates the lists when product names change. Batches may be redelivered, even after later ones. So the current name of
// each product decides, and entries are put and deleted without conditions.
func (s *service) keepLists(ctx context.Context, changes []change) error {
	listed := map[catfecitodb.EnterProductsLine]bool{} // for each entry, whether it is one of the product's current name
	var renamed []catfecitodb.ProductByIDInput
	for _, c := range changes {
		before, was := c.before.(catfecitodb.Product)
		after, is := c.after.(catfecitodb.Product)
		if before.Name == after.Name { // or the change is of another item
			continue
		}
		if was {
			for _, entry := range entriesOf(before.ProductID, before.Name) {
				listed[entry] = false
			}
		}
		if is {
			for _, entry := range entriesOf(after.ProductID, after.Name) {
				listed[entry] = false
			}
		}
		renamed = append(renamed, catfecitodb.ProductByIDInput{ProductID: cmp.Or(after.ProductID, before.ProductID)})
	}
	if len(renamed) == 0 {
		return nil
	}
	current, err := s.db.ProductByIDBatch(ctx, renamed)
	if err != nil {
		return err
	}
	for _, p := range current {
		if p == nil {
			continue
		}
		for _, entry := range entriesOf(p.ProductID, p.Name) {
			listed[entry] = true
		}
	}
	var enter []catfecitodb.EnterProductsLine
	var drop []catfecitodb.DropProductEntriesLine
	for entry, there := range listed {
		if there {
			enter = append(enter, entry)
		} else {
			drop = append(drop, catfecitodb.DropProductEntriesLine(entry))
		}
	}
	if len(drop) > 0 {
		if err := s.db.DropProductEntries(ctx, catfecitodb.DropProductEntriesInput{Lines: drop}); err != nil {
			return fmt.Errorf("drop %d entries of products: %w", len(drop), err)
		}
	}
	return s.enter(ctx, enter)
}

// enter puts entries into the lists, the shelf entries last: if a product has a shelf entry, it has all others.
func (s *service) enter(ctx context.Context, entries []catfecitodb.EnterProductsLine) error {
	byList := map[catfecitodb.ProductList][]catfecitodb.EnterProductsLine{}
	for _, entry := range entries {
		byList[entry.List] = append(byList[entry.List], entry)
	}
	for _, list := range []catfecitodb.ProductList{catfecitodb.ProductListWords, catfecitodb.ProductListShelf} {
		if len(byList[list]) == 0 {
			continue
		}
		if _, err := s.db.EnterProducts(ctx, catfecitodb.EnterProductsInput{Lines: byList[list]}); err != nil {
			return fmt.Errorf("enter %d products into %s: %w", len(byList[list]), list, err)
		}
	}
	return nil
}

// fillLists adds products on sale that are missing from the lists because they are older than the lists.
func (s *service) fillLists(ctx context.Context) error {
	shelved := map[string]string{} // names by product
	for entry, err := range s.db.ShelfAll(ctx, catfecitodb.ShelfInput{List: catfecitodb.ProductListShelf}) {
		if err != nil {
			return err
		}
		shelved[entry.ProductID] = entry.Term
	}
	for p, err := range s.db.ActiveProductsAll(ctx) {
		if err != nil {
			return err
		}
		if shelved[p.ProductID] == folded(p.Name) {
			continue
		}
		if err := s.enter(ctx, entriesOf(p.ProductID, p.Name)); err != nil {
			return err
		}
	}
	return nil
}

// search finds products on sale whose name has, for each search word, a word that begins with it. It reads the entries for the
// longest search word and checks the others against the products, so stale entries never cause wrong results.
func (s *service) search(ctx context.Context, text string, page table.PageOptions) (table.Page[catfecitodb.Product], error) {
	found := table.Page[catfecitodb.Product]{Items: []catfecitodb.Product{}}
	terms := wordsOf(text)
	if len(terms) == 0 {
		return found, nil
	}
	slices.SortStableFunc(terms, func(a, b string) int { return len(b) - len(a) })
	terms = terms[:min(len(terms), termsMost)]
	for range searchPages {
		entries, err := s.db.ProductsByWord(ctx, catfecitodb.ProductsByWordInput{List: catfecitodb.ProductListWords, TermPrefix: terms[0]}, page)
		if err != nil {
			return found, err
		}
		products, err := s.productsOf(ctx, entries.Items)
		if err != nil {
			return found, err
		}
		for i, p := range products {
			if p != nil && p.IsActive && fits(entries.Items[i].Term, terms, wordsOf(p.Name)) {
				found.Items = append(found.Items, *p)
			}
		}
		found.Next, page.After = entries.Next, entries.Next
		if len(found.Items) > 0 || found.Next == "" {
			break
		}
	}
	return found, nil
}

// fits reports whether every search word begins a word of the name, and whether the entry is the first one of the product that
// the longest search word finds. If several words of a name have that prefix, only one counts.
func fits(entry string, terms, words []string) bool {
	begins := func(term string) int {
		return slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, term) })
	}
	first := begins(terms[0])
	return first >= 0 && words[first] == entry && !slices.ContainsFunc(terms, func(term string) bool { return begins(term) < 0 })
}

// productsOf returns the current products of entries, with nil for those that no longer exist.
func (s *service) productsOf(ctx context.Context, entries []catfecitodb.ProductEntry) ([]*catfecitodb.Product, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	wanted := make([]catfecitodb.ProductByIDInput, len(entries))
	for i, e := range entries {
		wanted[i].ProductID = e.ProductID
	}
	return s.db.ProductByIDBatch(ctx, wanted)
}

// offers returns products on sale: all of them, those whose name has a prefix, or those found by words.
func (s *service) offers(ctx context.Context, _ auth.Principal, in productQuery) (table.Page[Offer], error) {
	switch {
	case in.Words != "":
		found, err := s.search(ctx, in.Words, in.Options())
		return offersOf(found, func(p catfecitodb.Product) Offer {
			return Offer{p.ProductID, p.CategoryID, p.Name, &p.Description, Money(p.Price), p.ImageURL}
		}), err
	case in.NamePrefix != "":
		found, err := s.db.SearchProducts(ctx, catfecitodb.SearchProductsInput{NamePrefix: in.NamePrefix}, in.Options())
		return offersOf(found, func(p catfecitodb.SearchProductsItem) Offer {
			return Offer{p.ProductID, p.CategoryID, p.Name, nil, Money(p.Price), p.ImageURL}
		}), err
	default:
		found, err := s.db.ActiveProducts(ctx, in.Options())
		return offersOf(found, func(p catfecitodb.ActiveProductsItem) Offer {
			return Offer{p.ProductID, p.CategoryID, p.Name, nil, Money(p.Price), p.ImageURL}
		}), err
	}
}

func offersOf[T any](found table.Page[T], show func(T) Offer) table.Page[Offer] {
	out := table.Page[Offer]{Items: make([]Offer, len(found.Items)), Next: found.Next}
	for i, p := range found.Items {
		out.Items[i] = show(p)
	}
	return out
}

// shelf returns all products, on sale or not, with their current data.
func (s *service) shelf(ctx context.Context, _ auth.Principal, in pageOnly) (table.Page[catfecitodb.Product], error) {
	entries, err := s.db.Shelf(ctx, catfecitodb.ShelfInput{List: catfecitodb.ProductListShelf}, in.Options())
	if err != nil {
		return table.Page[catfecitodb.Product]{}, err
	}
	products, err := s.productsOf(ctx, entries.Items)
	out := table.Page[catfecitodb.Product]{Items: []catfecitodb.Product{}, Next: entries.Next}
	for i, p := range products {
		if p != nil && folded(p.Name) == entries.Items[i].Term {
			out.Items = append(out.Items, *p)
		}
	}
	return out, err
}
