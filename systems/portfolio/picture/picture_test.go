package picture_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/monotable/monotable/systems/portfolio/picture"
)

// webp is a lossless WebP of one pixel.
const webp = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="

func filled(width, height int, of color.Color) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		m.Set(i%width, i/width, of)
	}
	return m
}

// TestResultsCanBeServed: an image that is hard to compress becomes narrower. Its file was stored, but too large to be read.
func TestResultsCanBeServed(t *testing.T) {
	t.Parallel()
	const most = 4 << 20
	noise, chance := image.NewNRGBA(image.Rect(0, 0, 1600, 1800)), rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	for i := range noise.Pix {
		noise.Pix[i] = byte(chance.Uint32())
	}
	p, err := picture.Draw(noise)
	if err != nil || p.MediaType != "image/png" || len(p.Wide) > most || len(p.Narrow) > most || p.Width != 800 || p.Height != 900 {
		t.Errorf("%d × %d pixels of %s in %d and %d bytes, %v", p.Width, p.Height, p.MediaType, len(p.Wide), len(p.Narrow), err)
	}
}

// TestMake: each format becomes an image for pages, no wider than necessary, without the file's other content.
func TestMake(t *testing.T) {
	t.Parallel()
	written := func(write func(*bytes.Buffer) error) []byte {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	photo := written(func(w *bytes.Buffer) error { return jpeg.Encode(w, filled(3000, 1500, color.Gray{Y: 90}), nil) })
	const secret = "Exif\x00\x00 taken at home"
	tagged := append([]byte{0xff, 0xd8, 0xff, 0xe1, 0, byte(len(secret) + 2)}, secret...)
	tagged = append(append(tagged, photo[2:]...), "<script>alert(1)</script>"...)
	one, err := base64.StdEncoding.DecodeString(webp)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file          []byte
		media         string
		width, height int
	}{
		"photograph": {tagged, "image/jpeg", 1600, 800},
		"drawing":    {written(func(w *bytes.Buffer) error { return png.Encode(w, filled(20, 10, color.NRGBA{R: 1, A: 9})) }), "image/png", 20, 10},
		"screenshot": {written(func(w *bytes.Buffer) error { return png.Encode(w, filled(20, 10, color.White)) }), "image/jpeg", 20, 10},
		"animation":  {written(func(w *bytes.Buffer) error { return gif.Encode(w, filled(20, 10, color.White), nil) }), "image/jpeg", 20, 10},
		"line":       {written(func(w *bytes.Buffer) error { return png.Encode(w, filled(2000, 100, color.White)) }), "image/jpeg", 1600, 80},
		"webp":       {one, "", 1, 1},
	} {
		p, err := picture.Make(c.file)
		if err != nil || p.Width != c.width || p.Height != c.height || c.media != "" && p.MediaType != c.media {
			t.Errorf("%s: %s of %d by %d, %v", name, p.MediaType, p.Width, p.Height, err)
		}
		for _, file := range [][]byte{p.Wide, p.Narrow} {
			config, _, err := image.DecodeConfig(bytes.NewReader(file))
			if err != nil || config.Width > picture.Wide || bytes.Contains(file, []byte("home")) || bytes.Contains(file, []byte("script")) {
				t.Errorf("%s: the stored image is %+v, %v", name, config, err)
			}
		}
	}
}

// exif returns a JPEG segment that records an orientation, in either byte order.
func exif(order binary.AppendByteOrder, orientation uint16) []byte {
	mark := "II"
	if order == binary.AppendByteOrder(binary.BigEndian) {
		mark = "MM"
	}
	tiff := order.AppendUint32(order.AppendUint16([]byte(mark), 42), 8)
	tiff = order.AppendUint16(tiff, 1)                                                         // one entry:
	tiff = order.AppendUint32(order.AppendUint16(order.AppendUint16(tiff, 0x0112), 3), 1)      // the orientation, a SHORT
	tiff = order.AppendUint32(order.AppendUint16(order.AppendUint16(tiff, orientation), 0), 0) // and no further directory
	body := append([]byte("Exif\x00\x00"), tiff...)
	return append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(body)+2)), body...) //nolint:gosec // a few bytes
}

// TestOrientation: a photograph is rotated as its camera recorded, for all eight orientations.
func TestOrientation(t *testing.T) {
	t.Parallel()
	corners := map[string]color.Color{"red": color.NRGBA{R: 255, A: 255}, "green": color.NRGBA{G: 255, A: 255}, "blue": color.NRGBA{B: 255, A: 255}, "white": color.White}
	for orientation, seen := range map[uint16]struct { // from the top left, the top right, the bottom left and the bottom right
		stored   [4]string
		sideways bool
	}{
		// Stored like this, each must be displayed as red, green, blue, white.
		1: {[4]string{"red", "green", "blue", "white"}, false},
		2: {[4]string{"green", "red", "white", "blue"}, false},
		3: {[4]string{"white", "blue", "green", "red"}, false},
		4: {[4]string{"blue", "white", "red", "green"}, false},
		5: {[4]string{"red", "blue", "green", "white"}, true},
		6: {[4]string{"green", "white", "red", "blue"}, true},
		7: {[4]string{"white", "green", "blue", "red"}, true},
		8: {[4]string{"blue", "red", "white", "green"}, true},
	} {
		width, height, wide, high := 30, 50, 30, 50
		if orientation == 6 { // too wide after rotation
			width, height, wide, high = 200, 2000, 1600, 160
		} else if seen.sideways {
			wide, high = 50, 30
		}
		m := image.NewNRGBA(image.Rect(0, 0, width, height))
		for i, name := range seen.stored {
			at := image.Pt(i%2*width/2, i/2*height/2)
			draw.Draw(m, image.Rectangle{at, at.Add(image.Pt(width/2, height/2))}, image.NewUniform(corners[name]), image.Point{}, draw.Src)
		}
		var photo bytes.Buffer
		if err := jpeg.Encode(&photo, m, nil); err != nil {
			t.Fatal(err)
		}
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			file := slices.Concat(photo.Bytes()[:2], exif(order, orientation), photo.Bytes()[2:])
			p, err := picture.Make(file)
			if err != nil || p.Width != wide || p.Height != high {
				t.Fatalf("orientation %d: %d by %d, %v, want %d by %d", orientation, p.Width, p.Height, err, wide, high)
			}
			for _, drawn := range [][]byte{p.Wide, p.Narrow} {
				m, _, err := image.Decode(bytes.NewReader(drawn))
				if err != nil {
					t.Fatal(err)
				}
				w, h := m.Bounds().Dx(), m.Bounds().Dy()
				for i, name := range []string{"red", "green", "blue", "white"} {
					if at := m.At(w/4+i%2*w/2, h/4+i/2*h/2); !alike(at, corners[name]) {
						t.Errorf("orientation %d, %d wide: corner %d is %v, want %s", orientation, w, i, at, name)
					}
				}
				if bytes.Contains(drawn, []byte("Exif")) {
					t.Errorf("orientation %d remains in an upright image", orientation)
				}
			}
		}
	}
	broken := exif(binary.LittleEndian, 6)
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, filled(30, 20, color.White), nil); err != nil {
		t.Fatal(err)
	}
	for name, segment := range map[string][]byte{"nonsense": exif(binary.BigEndian, 9), "cut off": append(append([]byte{}, broken[:2]...), 0, 12, 'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0)} {
		p, err := picture.Make(slices.Concat(photo.Bytes()[:2], segment, photo.Bytes()[2:]))
		if err != nil || p.Width != 30 || p.Height != 20 {
			t.Errorf("%s: %d by %d, %v", name, p.Width, p.Height, err)
		}
	}
}

// alike compares colours, with a tolerance for JPEG's losses.
func alike(a, b color.Color) bool {
	r, g, bl, _ := a.RGBA()
	x, y, z, _ := b.RGBA()
	return r>>15 == x>>15 && g>>15 == y>>15 && bl>>15 == z>>15
}

// FuzzMake: any bytes result in an image or one of two errors.
func FuzzMake(f *testing.F) {
	var out bytes.Buffer
	if err := png.Encode(&out, filled(3, 2, color.White)); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes())
	f.Add([]byte("GIF89a"))
	out.Reset()
	if err := jpeg.Encode(&out, filled(3, 2, color.White), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(slices.Concat(out.Bytes()[:2], exif(binary.LittleEndian, 6), out.Bytes()[2:]))
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPVP8 "))
	f.Fuzz(func(t *testing.T, file []byte) {
		if p, err := picture.Make(file); err == nil && (p.Width < 1 || len(p.Wide) == 0) || err != nil && !errors.Is(err, picture.ErrFormat) && !errors.Is(err, picture.ErrLarge) {
			t.Errorf("%+v, %v", p, err)
		}
	})
}
