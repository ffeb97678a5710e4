package portfolio

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/monotable/monotable/systems/portfolio/picture"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// sampleCovers maps the blocks whose first post has a cover to the cover's seed. Covers are drawn on request, because a sample
// can be loaded through an API without access to files.
func sampleCovers() map[int]uint64 {
	return map[int]uint64{0: 3, 1: 0, 2: 6, 5: 8, 7: 2, 9: 5, 12: 1, 15: 9, 19: 4}
}

// cover returns the image id of a block's first post, or nil if it has no cover.
func (m *sampleMaker) cover(block int) *string {
	if _, ok := sampleCovers()[block]; !ok || block*sampleBlock+placeImage >= m.total {
		return nil
	}
	id := samplePostID(block, placeImage)
	return &id
}

// image returns the record of a cover, which is kept longer than any use of the sample.
func (m *sampleMaker) image(block int, id string, at time.Time) portfoliodb.Image {
	width, height := int64(picture.Wide), int64(picture.Wide*9/16)
	return portfoliodb.Image{
		UserID: sampleUserID(block), ImageID: id, State: portfoliodb.ImageStateReady, Width: &width, Height: &height, CreatedAt: at,
		CheckAt: sampleEnd(),
	}
}

// sampleEnd is later than any use of a sample.
func sampleEnd() time.Time { return time.Date(2100, time.January, 1, 0, 0, 0, 0, time.UTC) }

// drawnCovers caches the covers that were requested, by id.
type drawnCovers struct{ byID sync.Map }

// of returns a cover by id, and draws it only once. It returns false if the id is not a sample's.
func (d *drawnCovers) of(id string) (picture.Picture, bool) {
	parsed, err := ulid.Parse(id)
	if err != nil {
		return picture.Picture{}, false
	}
	block := int(binary.BigEndian.Uint64(parsed[8:]) / sampleBlock) //nolint:gosec // compared below
	seed, known := sampleCovers()[block]
	if !known || samplePostID(block, placeImage) != id {
		return picture.Picture{}, false
	}
	once, _ := d.byID.LoadOrStore(id, sync.OnceValues(func() (picture.Picture, error) { return picture.Draw(picture.Abstract(seed)) }))
	drawn, err := once.(func() (picture.Picture, error))() //nolint:forcetypeassert // nothing else is stored
	return drawn, err == nil
}
