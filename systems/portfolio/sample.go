package portfolio

import (
	"encoding/binary"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/seed"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// The records of a block, which is a user with two posts and the reactions to the first, are at these places. Parts consist of
// whole blocks.
const (
	sampleBlock = 50

	placeUser      = 0
	placeFirst     = 1 // a category in the first blocks, a bookmark in the others
	placeContent   = 2
	placePost      = 3
	placeContent2  = 4
	placePost2     = 5
	placeComments  = 6  // each with its notification
	placeLikes     = 22 // each with its notification
	placeBookmarks = 46
	placeImage     = 46 // in blocks with a cover, instead of a bookmark
	placeAlbum     = 47 // likewise

	sampleCategories = 10
	// sampleFirst is the number of the first user, whose token the demo's page shows, and of the first category.
	sampleFirst = 123
	// exampleName and exampleEmail belong to the first user, and are used in the examples.
	exampleName, exampleEmail = "Ana Souza", "ana@example.com"
)

// sample generates one part of the sample data.
func sample(p seed.Part) iter.Seq[table.Record] {
	return func(yield func(table.Record) bool) {
		m := sampleMaker{Chance: p.Chance, total: p.Total}
		for n := p.First; n < p.First+p.Items; n++ {
			if !yield(m.record(n/sampleBlock, n%sampleBlock)) {
				return
			}
		}
	}
}

// sampleMaker generates the records of a part sequentially. References to another part's block are derived from the block's
// number; everything else is random.
type sampleMaker struct {
	seed.Chance
	total int
	last  activity // the action that the next record notifies about
}

// record generates the record at a place in a block.
func (m *sampleMaker) record(block, place int) table.Record {
	at := sampleTime(block, place)
	if id := m.cover(block); id != nil && place == placeImage {
		return m.image(block, *id, at).Record()
	} else if id != nil && place == placeAlbum {
		return portfoliodb.Album{UserID: sampleUserID(block), Images: 1}.Record()
	}
	switch {
	case place == placeUser:
		return sampleUser(block, at).Record()
	case place == placeFirst && block < sampleCategories:
		return m.category(block, at).Record()
	case place == placeContent, place == placeContent2:
		return portfoliodb.PostContent{PostID: samplePostID(block, place+1), Body: sampleOf(block, place == placeContent2).body}.Record()
	case place == placePost:
		return m.post(block, at).Record()
	case place == placePost2:
		return m.second(block, at).Record()
	case place == placeFirst, place >= placeBookmarks:
		return m.bookmark(block, place, at).Record()
	case place%2 != 0:
		return m.notification(block).Record()
	case place < placeLikes:
		c := portfoliodb.Comment{
			PostID: samplePostID(block, placePost), CommentID: sampleID(at, block, place), UserID: m.other(block, (place-placeComments)/2), AuthorID: sampleUserID(block),
			Body: sampleRemarks()[(3*block+place/2)%len(sampleRemarks())], CreatedAt: at,
		}
		m.last = activityOfComment(c)
		return c.Record()
	default:
		l := portfoliodb.Like{PostID: samplePostID(block, placePost), UserID: m.other(block, (place-placeLikes)/2), CreatedAt: at}
		m.last = activityOfLike(l)
		return l.Record()
	}
}

func sampleUser(block int, at time.Time) portfoliodb.User {
	given := []string{"Ana", "Bruno", "Camila", "Diego", "Elena", "Fabián", "Julia", "Marcos", "Sofía", "Tomás"}
	family := []string{"Aguilar", "Benítez", "Castro", "Domínguez", "Fuentes", "Molina", "Navarro", "Rojas", "Souza", "Vega"}
	bio := "Escribe sobre " + sampleSubjects()[block%sampleCategories] + "."
	name, email := given[block%len(given)]+" "+family[(7*block+block/len(given))%len(family)], fmt.Sprintf("u.%d@example.com", sampleFirst+block)
	if block == 0 {
		name, email = exampleName, exampleEmail
	}
	return portfoliodb.User{
		UserID: sampleUserID(block), Email: email, Bio: &bio,
		Name: name, CreatedAt: at, UpdatedAt: at,
	}
}

// post returns the block's published post, with the numbers of the sample's comments and likes.
func (m *sampleMaker) post(block int, at time.Time) portfoliodb.Post {
	text := sampleOf(block, false)
	left := min(m.total-block*sampleBlock, placeBookmarks)
	p := portfoliodb.Post{
		PostID: samplePostID(block, placePost), UserID: sampleUserID(block), Title: text.title, Excerpt: text.excerpt, CoverID: m.cover(block),
		CategoryID: sampleCategoryID(block), Status: portfoliodb.PostStatusPublished, VisibleTo: everyone, CreatedAt: at, UpdatedAt: at,
		CommentCount: pairs(placeComments, min(left, placeLikes)), LikeCount: pairs(placeLikes, left),
	}
	if p.CoverID != nil {
		p.Images = []string{*p.CoverID}
	}
	return p
}

// pairs returns the number of records between two places that are followed by a notification.
func pairs(from, to int) int64 { return int64(max(to-from+1, 0) / 2) }

// second returns the block's second post: a draft, or an archived or published post without reactions.
func (m *sampleMaker) second(block int, at time.Time) portfoliodb.Post {
	text := sampleOf(block, true)
	p := portfoliodb.Post{
		PostID: samplePostID(block, placePost2), UserID: sampleUserID(block), Title: text.title, Excerpt: text.excerpt,
		CategoryID: sampleCategoryID(block), Status: portfoliodb.PostStatusPublished, VisibleTo: everyone, CreatedAt: at, UpdatedAt: at,
	}
	switch block % 5 {
	case 0:
		p.Status, p.VisibleTo = portfoliodb.PostStatusDraft, p.UserID
	case 1:
		p.Status = portfoliodb.PostStatusArchived
	}
	return p
}

// category returns a category with the number of the sample's posts.
func (m *sampleMaker) category(n int, at time.Time) portfoliodb.Category {
	name := sampleSubjects()[n]
	slug := strings.ReplaceAll(strings.ToLower(name), " ", "-")
	return portfoliodb.Category{
		CategoryID: sampleCategoryID(n), Slug: slug, Name: name, Position: int64(n), PostCount: m.blocks(n, placePost) + m.blocks(n, placePost2),
		CreatedAt: at, UpdatedAt: at,
	}
}

// blocks returns the number of a category's blocks that have a record at a place.
func (m *sampleMaker) blocks(category, place int) int64 {
	all := (m.total - place + sampleBlock - 1) / sampleBlock // in any category
	return int64(max(all-category+sampleCategories-1, 0) / sampleCategories)
}

// notification returns the notification about the last comment or like. It expires later than any use of the sample.
func (m *sampleMaker) notification(block int) portfoliodb.Notification {
	return portfoliodb.Notification{
		UserID: sampleUserID(block), NotificationID: m.last.notificationID(), Kind: m.last.kind, PostID: m.last.postID, ActorID: m.last.actorID,
		Message: m.last.message(sampleOf(block, false).title), Read: m.IntN(2) == 0, CreatedAt: m.last.at, UpdatedAt: m.last.at,
		ExpiresAt: sampleEnd(),
	}
}

// bookmark bookmarks the first post of a complete block.
func (m *sampleMaker) bookmark(block, place int, at time.Time) portfoliodb.Bookmark {
	number := max(place-placeBookmarks+1, 0)
	of := (block + 1 + number) % (m.total / sampleBlock)
	return portfoliodb.Bookmark{UserID: sampleUserID(block), PostID: samplePostID(of, placePost), PostTitle: sampleOf(of, false).title, CreatedAt: at}
}

// other returns the user of another block. The numbers below the minimum number of blocks give different users.
func (m *sampleMaker) other(block, number int) string {
	return sampleUserID((block + 1 + number) % (m.total / sampleBlock))
}

func sampleSubjects() []string {
	return []string{
		"Go", "Bases de datos", "Nube", "Pruebas", "Seguridad", "Redes", "Interfaces", "Oficio", "Libros", "Historia",
	}
}

// sampleOf returns the text of a block's first or second post. Larger samples repeat the texts, with numbers.
func sampleOf(block int, second bool) sampleText {
	half := len(sampleTexts()) / 2
	texts := sampleTexts()[:half]
	if second {
		texts = sampleTexts()[half:]
	}
	text := texts[block%half]
	if again := block / half; again > 0 {
		text.title = fmt.Sprintf("%s (%d)", text.title, again+1)
	}
	return text
}

func sampleUserID(block int) string { return fmt.Sprintf("u-%d", sampleFirst+block) }

func sampleCategoryID(block int) string {
	return fmt.Sprintf("cat-%d", sampleFirst+block%sampleCategories)
}

func samplePostID(block, place int) string { return sampleID(sampleTime(block, place), block, place) }

// sampleTime gives each record a time that does not depend on the sample's size: the first block is the newest, each further
// block is some hours older, and the records of a block are minutes apart.
func sampleTime(block, place int) time.Time {
	const between, apart = 13 * time.Hour, 11 * time.Minute
	return time.Date(2026, time.November, 19, 7, 0, 0, 0, time.UTC).Add(-time.Duration(block)*between + time.Duration(place)*apart)
}

// sampleID returns a reproducible ULID with a time.
func sampleID(at time.Time, block, place int) string {
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(at))                                  // our times fit
	binary.BigEndian.PutUint64(id[8:], uint64(block*sampleBlock+place)) //nolint:gosec // not negative
	return id.String()
}
