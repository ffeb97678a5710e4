// Package picture makes pictures for pages of files that people upload.
//
// # Model
//
//	bytes ─▶ format, size and orientation ─▶ pixels ─▶ upright, at most Wide wide ─▶ JPEG, or PNG where something shows through
//	                                                   ╰▶ at most Narrow wide, for lists
//
// # Invariants
//
//	G1  A file is what its bytes say; names and headers are not asked.
//	G2  What is returned was drawn here, of pixels alone: nothing else in a file gets further, such as where a photograph was
//	    taken, or a program behind the picture.
//	    What it says of how it is to be turned is done before.
//	G3  Memory is bounded: a file that says that it has more than mostPixels is refused before they are read, and few are read
//	    at once.
//
// All may be used from any number of goroutines.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // read, the first picture of them
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // read
)

// How wide pictures are, at most.
const (
	Wide   = 1600
	Narrow = 640
)

const (
	// mostPixels are those of a photograph of today's cameras.
	mostPixels = 25_000_000
	// longest is how many times as long as wide a picture may be: it is never drawn higher than this many times its width.
	longest = 20
	quality = 84
	atOnce  = 2
)

// Errors of Make.
var (
	ErrFormat = errors.New("picture: the file is no JPEG, PNG, GIF or WebP")
	ErrLarge  = errors.New("picture: the picture has too many pixels")
)

// Picture is a picture for pages.
type Picture struct {
	// Wide and Narrow are the files.
	Wide, Narrow []byte
	// MediaType is that of both.
	MediaType string
	// Width and Height are those of Wide.
	Width, Height int
}

var turns = make(chan struct{}, atOnce)

// Make makes a picture of a file.
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

// Draw makes a picture of pixels.
func Draw(whole image.Image) (Picture, error) { return drawn(whole, upright) }

func drawn(whole image.Image, lies orientation) (Picture, error) {
	wide := lies.turned(lies.scaled(whole, Wide))
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

// scaled is a picture that is at most so wide when it is upright.
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
