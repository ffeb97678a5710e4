package picture

import (
	"bytes"
	"image"

	"github.com/bep/imagemeta"
)

// orientation is how a file's pixels are rotated, as recorded by cameras (EXIF, tag 0x0112): they store the sensor's rows, and
// record how the camera was held.
type orientation int

// upright is the orientation of most files.
const upright orientation = 1

// orientationOf returns the orientation recorded in a file, or upright if it has no valid one. The format is named as in package
// image.
func orientationOf(file []byte, format string) orientation {
	kinds := map[string]imagemeta.ImageFormat{"jpeg": imagemeta.JPEG, "png": imagemeta.PNG, "webp": imagemeta.WebP}
	kind, known := kinds[format]
	if !known {
		return upright
	}
	found := upright
	// If the metadata are truncated, use the part that is there: an image is not rejected for its metadata.
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

// sideways reports whether the image's width is the file's height.
func (o orientation) sideways() bool { return o >= 5 }

// turned rotates an image upright.
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
