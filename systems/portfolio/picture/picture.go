// Package picture turns uploaded files into images for pages.
//
// # Model
//
//	bytes ─▶ format, size and orientation ─▶ pixels ─▶ upright, at most Wide wide ─▶ JPEG, or PNG if there is transparency
//	                                                   ╰▶ at most Narrow wide, for lists
//
// # Invariants
//
//	G1  A file's type is determined from its bytes; names and headers are ignored.
//	G2  The result is encoded here, from pixels alone, after applying the recorded orientation. No other content of the file
//	    remains, such as where a photograph was taken, or a program appended to the image.
//	G3  Memory is bounded: a file that claims more than mostPixels is rejected before decoding, and only a few are decoded
//	    concurrently.
//	G4  A result is small enough to be served.
//
// The package is safe for concurrent use.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // decodes the first frame
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // decodes
)

// The maximum width of images.
const (
	Wide   = 1600
	Narrow = 640
)

const (
	// mostPixels is enough for photographs of current cameras.
	mostPixels = 25_000_000
	// longest is the maximum ratio of height to width; longer images are cropped.
	longest = 20
	quality = 84
	atOnce  = 2
	// mostEncoded is the maximum size of a result, which as base64 fits into the response of a Lambda function.
	mostEncoded = 4 << 20
)

// Errors of Make.
var (
	ErrFormat = errors.New("picture: the file is not a JPEG, PNG, GIF or WebP")
	ErrLarge  = errors.New("picture: the picture has too many pixels")
)

// Picture is an image for pages.
type Picture struct {
	// Wide and Narrow are the encoded files.
	Wide, Narrow []byte
	// MediaType is the type of both.
	MediaType string
	// Width and Height are those of Wide.
	Width, Height int
}

var turns = make(chan struct{}, atOnce)

// Make turns a file into a Picture.
func Make(file []byte) (Picture, error) {
	config, format, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return Picture{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	w, h := config.Width, config.Height
	if w <= 0 || h <= 0 {
		return Picture{}, ErrFormat
	}
	if w > mostPixels/h || w > longest*h || h > longest*w {
		return Picture{}, ErrLarge
	}
	turns <- struct{}{}
	defer func() { <-turns }()
	whole, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return Picture{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return drawn(whole, orientationOf(file, format))
}

// Draw encodes pixels as a Picture.
func Draw(whole image.Image) (Picture, error) { return drawn(whole, upright) }

// drawn encodes an image, narrower if it would be too large.
func drawn(whole image.Image, lies orientation) (Picture, error) {
	for most := Wide; ; most /= 2 {
		p, err := encoded(lies.turned(lies.scaled(whole, most)))
		if err != nil || max(len(p.Wide), len(p.Narrow)) <= mostEncoded {
			return p, err
		}
	}
}

func encoded(wide *image.NRGBA) (Picture, error) {
	p := Picture{Width: wide.Bounds().Dx(), Height: wide.Bounds().Dy(), MediaType: "image/jpeg"}
	encode := func(m image.Image) ([]byte, error) {
		var out bytes.Buffer
		err := jpeg.Encode(&out, m, &jpeg.Options{Quality: quality})
		return out.Bytes(), err
	}
	if !wide.Opaque() {
		p.MediaType = "image/png"
		encode = func(m image.Image) ([]byte, error) {
			var out bytes.Buffer
			err := png.Encode(&out, m)
			return out.Bytes(), err
		}
	}
	var err, fault error
	p.Wide, err = encode(wide)
	p.Narrow, fault = encode(upright.scaled(wide, Narrow))
	return p, errors.Join(err, fault)
}

// scaled scales an image to a maximum width after rotation.
func (o orientation) scaled(m image.Image, most int) *image.NRGBA {
	b := m.Bounds()
	w, h := b.Dx(), b.Dy()
	switch {
	case !o.sideways() && w > most:
		w, h = most, max(1, (h*most+w/2)/w)
	case o.sideways() && h > most:
		w, h = max(1, (w*most+h/2)/h), most
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	if w == b.Dx() {
		draw.Draw(out, out.Bounds(), m, b.Min, draw.Src)
	} else {
		draw.CatmullRom.Scale(out, out.Bounds(), m, b, draw.Src, nil)
	}
	return out
}
