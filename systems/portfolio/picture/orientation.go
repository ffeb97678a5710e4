package picture

import (
	"bytes"
	"image"

	"github.com/bep/imagemeta"
)

// orientation is how the pixels of a file lie, as cameras write it (EXIF, tag 0x0112): they keep the rows of their sensor, and say
// which way up it was held.
type orientation int

// upright is the orientation of most files.
const upright orientation = 1

// orientationOf is what a file of a format, as package image names it, says. A file that says nothing, or nonsense, is upright.
func orientationOf(file []byte, format string) orientation {
	kinds := map[string]imagemeta.ImageFormat{"jpeg": imagemeta.JPEG, "png": imagemeta.PNG, "webp": imagemeta.WebP}
	kind, known := kinds[format]
	if !known {
		return upright
	}
	found := upright
	// Where the metadata break off, what was read before them counts: they are not what the picture is judged by.
	_, _ = imagemeta.Decode(imagemeta.Options{
		R: bytes.NewReader(file), ImageFormat: kind, Sources: imagemeta.EXIF,
		ShouldHandleTag: func(tag imagemeta.TagInfo) bool { return tag.Namespace == "IFD0" && tag.Tag == "Orientation" },
		HandleTag: func(tag imagemeta.TagInfo) error {
			if n, is := tag.Value.(uint16); is && n >= 1 && n <= 8 {
				found = orientation(n)
			}
			return imagemeta.ErrStopWalking
		},
	})
	return found
}

// sideways reports whether the picture is as wide as the file is high.
func (o orientation) sideways() bool { return o >= 5 }

// turned is a picture as it is to be seen.
func (o orientation) turned(m *image.NRGBA) *image.NRGBA {
	if o == upright {
		return m
	}
	w, h := m.Rect.Dx(), m.Rect.Dy()
	from := map[orientation]func(x, y int) (int, int){
		2: func(x, y int) (int, int) { return w - 1 - x, y },
		3: func(x, y int) (int, int) { return w - 1 - x, h - 1 - y },
		4: func(x, y int) (int, int) { return x, h - 1 - y },
		5: func(x, y int) (int, int) { return y, x },
		6: func(x, y int) (int, int) { return y, h - 1 - x },
		7: func(x, y int) (int, int) { return w - 1 - y, h - 1 - x },
		8: func(x, y int) (int, int) { return w - 1 - y, x },
	}[o]
	size := image.Rect(0, 0, w, h)
	if o.sideways() {
		size = image.Rect(0, 0, h, w)
	}
	out := image.NewNRGBA(size)
	for y := range size.Dy() {
		for x := range size.Dx() {
			copy(out.Pix[out.PixOffset(x, y):][:4], m.Pix[m.PixOffset(from(x, y)):][:4])
		}
	}
	return out
}
