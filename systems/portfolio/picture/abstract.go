package picture

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"

	"golang.org/x/image/draw"
	"golang.org/x/image/vector"
)

// The size of Abstract's images.
const (
	abstractWidth  = 1600
	abstractHeight = 900
)

// Abstract draws a cover for sample posts: an image of shapes, which is always the same for a seed.
func Abstract(seed uint64) image.Image {
	c := &canvas{
		Rand: rand.New(rand.NewPCG(seed, 7)), //nolint:gosec // it is to be the same each time
		m:    image.NewNRGBA(image.Rect(0, 0, abstractWidth, abstractHeight)),
	}
	inks := palettes()[seed%uint64(len(palettes()))]
	c.paper, c.inks = inks[0], inks[1:]
	draw.Draw(c.m, c.m.Bounds(), image.NewUniform(c.paper), image.Point{}, draw.Src)
	kinds := []func(){c.tiles, c.hills, c.dots, c.bars, c.rings}
	kinds[seed/2%uint64(len(kinds))]()
	return c.m
}

// palettes returns palettes of a background and four colours.
func palettes() [][]color.NRGBA {
	rgb := func(v uint32) color.NRGBA {
		return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255} //nolint:gosec,mnd // its bytes
	}
	of := func(values ...uint32) (list []color.NRGBA) {
		for _, v := range values {
			list = append(list, rgb(v))
		}
		return list
	}
	return [][]color.NRGBA{
		of(0xf3ece0, 0x23282f, 0xc9772a, 0x2f5374, 0x8a9b7c),
		of(0xe9edf0, 0x1f3a4d, 0x5f8aa6, 0xd9694b, 0xe3b64f),
		of(0x22262c, 0xe9dfcd, 0xb9533a, 0xd9a441, 0x51707d),
		of(0xf6f1e7, 0x3c4a3e, 0x7f9c83, 0xd6b48a, 0xa4492f),
		of(0xece6ef, 0x332f4f, 0x7b6fa8, 0xd98a6a, 0xb8c4a8),
	}
}

// canvas is the image being drawn.
type canvas struct {
	*rand.Rand

	m     *image.NRGBA
	paper color.NRGBA
	inks  []color.NRGBA
}

func (c *canvas) ink() color.NRGBA { return c.inks[c.IntN(len(c.inks))] }

// fill fills a polygon within a rectangle.
func (c *canvas) fill(of color.Color, within image.Rectangle, points func(to func(x, y float64))) {
	r := vector.NewRasterizer(within.Dx(), within.Dy())
	begun := false
	points(func(x, y float64) {
		at := [2]float32{float32(x - float64(within.Min.X)), float32(y - float64(within.Min.Y))}
		if begun {
			r.LineTo(at[0], at[1])
		} else {
			r.MoveTo(at[0], at[1])
		}
		begun = true
	})
	r.ClosePath()
	r.Draw(c.m, within, image.NewUniform(of), image.Point{})
}

// arc fills a sector of a disc between two angles.
func (c *canvas) arc(of color.Color, x, y, radius, from, until float64) {
	const steps = 64
	around := image.Rect(int(x-radius)-1, int(y-radius)-1, int(x+radius)+2, int(y+radius)+2)
	c.fill(of, around, func(to func(x, y float64)) {
		to(x, y)
		for i := range steps + 1 {
			a := from + (until-from)*float64(i)/steps
			to(x+radius*math.Cos(a), y+radius*math.Sin(a))
		}
	})
}

func (c *canvas) disc(of color.Color, x, y, radius float64) { c.arc(of, x, y, radius, 0, 2*math.Pi) }

func (c *canvas) box(of color.Color, x, y, width, height float64) {
	draw.Draw(c.m, image.Rect(int(x), int(y), int(x+width), int(y+height)), image.NewUniform(of), image.Point{}, draw.Src)
}

// tiles draws squares with quarter discs.
func (c *canvas) tiles() {
	const side = 150
	for y := 0.0; y < abstractHeight; y += side {
		for x := 0.0; x < abstractWidth; x += side {
			if c.IntN(3) == 0 {
				c.box(c.ink(), x, y, side, side)
			}
			corner := c.IntN(4)
			c.arc(c.ink(), x+side*float64(corner%2), y+side*float64(corner/2), side, []float64{0, math.Pi / 2, -math.Pi / 2, math.Pi}[corner], []float64{math.Pi / 2, math.Pi, 0, 3 * math.Pi / 2}[corner])
		}
	}
}

// hills draws waves in front of each other, below a sun.
func (c *canvas) hills() {
	c.disc(c.inks[2], 300+float64(c.IntN(1000)), 270, 130) //nolint:mnd // where it looks well
	const layers = 5
	for i := range layers {
		base := 380 + 110*float64(i)
		phase, wave, height := c.Float64()*7, 300+250*c.Float64(), 40+60*c.Float64()
		c.fill(mixed(c.inks[1], c.inks[0], float64(i)/(layers-1)), c.m.Bounds(), func(to func(x, y float64)) {
			to(0, abstractHeight)
			for x := 0.0; x <= abstractWidth; x += 8 {
				to(x, base+height*math.Sin(phase+x/wave)+height/3*math.Sin(2*phase+x/wave*2.3))
			}
			to(abstractWidth, abstractHeight)
		})
	}
}

// dots draws discs that grow and shrink.
func (c *canvas) dots() {
	const apart = 50
	ax, ay := c.Float64()*abstractWidth, c.Float64()*abstractHeight
	for y := apart / 2.0; y < abstractHeight; y += apart {
		for x := apart / 2.0; x < abstractWidth; x += apart {
			far := math.Hypot(x-ax, y-ay)
			of := c.inks[0]
			if c.IntN(9) == 0 {
				of = c.inks[1+c.IntN(len(c.inks)-1)]
			}
			c.disc(of, x, y, 4+17*(0.5+0.5*math.Cos(far/170)))
		}
	}
}

// bars draws columns with round heads.
func (c *canvas) bars() {
	const width, apart = 62, 80
	for x := 20.0; x < abstractWidth-width; x += apart {
		top := 140 + 520*c.Float64()
		of := c.ink()
		c.disc(of, x+width/2, top, width/2)
		c.box(of, x, top, width, abstractHeight-top)
		if c.IntN(4) == 0 {
			c.disc(c.ink(), x+width/2, top-90, width/3)
		}
	}
}

// rings draws concentric discs.
func (c *canvas) rings() {
	for _, at := range [][2]float64{{380, 520}, {1150, 330}, {1420, 820}, {760, 40}} {
		radius := 260 + 120*c.Float64()
		for n := 0; radius > 20; n++ {
			of := c.paper
			if n%2 == 0 {
				of = c.ink()
			}
			c.disc(of, at[0], at[1], radius)
			radius -= 26 + 26*c.Float64()
		}
	}
}

// mixed returns a colour between two others.
func mixed(a, b color.NRGBA, share float64) color.NRGBA {
	between := func(a, b uint8) uint8 { return uint8(float64(a)*(1-share) + float64(b)*share) }
	return color.NRGBA{R: between(a.R, b.R), G: between(a.G, b.G), B: between(a.B, b.B), A: 255} //nolint:mnd // opaque
}
