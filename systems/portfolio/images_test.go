package portfolio_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/portfolio"
	"github.com/monotable/monotable/systems/portfolio/site"
)

// photograph returns a JPEG of a given size.
func photograph(tb testing.TB, width, height int) []byte {
	tb.Helper()
	m := image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420)
	for i := range m.Y {
		m.Y[i] = byte(i / 7)
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, m, nil); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// drawing returns a PNG with transparency.
func drawing(tb testing.TB) []byte {
	tb.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, 40, 30))
	m.Set(3, 3, color.NRGBA{R: 200, A: 100})
	var out bytes.Buffer
	if err := png.Encode(&out, m); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// raw sends a request outside of the API, to files that the system serves.
func raw(tb testing.TB, v *apitest.Server, method, path string, body []byte) *apitest.Response {
	tb.Helper()
	r := apitest.Request{Method: method, Path: "/" + path}
	if body != nil {
		r.Body = string(body)
	}
	return v.Do(tb, r)
}

// await requests the upload address for an image of a given size.
func await(tb testing.TB, v *apitest.Server, sub string, size int) portfolio.ImageTicket {
	tb.Helper()
	return call[portfolio.ImageTicket](tb, v, request(http.MethodPost, "/images", sub, map[string]any{"size": size}))
}

// sent uploads a file and returns the image's id.
func sent(tb testing.TB, v *apitest.Server, sub string, file []byte) string {
	tb.Helper()
	ticket := await(tb, v, sub, len(file))
	if w := raw(tb, v, ticket.Method, ticket.URL, file); w.Status != http.StatusOK {
		tb.Fatalf("the upload: %d %s", w.Status, w.Body)
	}
	return ticket.ImageID
}

// uploaded uploads and processes a file.
func uploaded(tb testing.TB, v *apitest.Server, sub string, file []byte) portfolio.Image {
	tb.Helper()
	return call[portfolio.Image](tb, v, request(http.MethodPut, "/images/"+sent(tb, v, sub, file), sub))
}

func imageCases(t *testing.T, v *apitest.Server) []apitest.Case {
	t.Helper()
	keep := func(sub, id string) apitest.Request { return request(http.MethodPut, "/images/"+id, sub) }
	ask := func(size any) apitest.Request {
		return request(http.MethodPost, "/images", ana, map[string]any{"size": size})
	}
	wide, drawn := sent(t, v, ana, photograph(t, 2000, 1000)), sent(t, v, ana, drawing(t))
	is := func(id string, width, height int64) func(testing.TB, *apitest.Response) {
		return bodyMatches(func(i portfolio.Image) bool {
			return i.ImageID == id && i.Width == width && i.Height == height && i.Size > 0
		})
	}
	theirs := uploaded(t, v, bruno, drawing(t))
	cover := func(id string) map[string]any { return but(content("covered", "cat-123"), "coverId", id) }
	write := func(key string, body any) apitest.Request {
		r := request(http.MethodPost, "/posts", ana, body)
		r.Key = key
		return r
	}
	me := func(avatar any) apitest.Request {
		return request(http.MethodPut, "/me", ana, map[string]any{"email": "ana.souza@mail.com", "name": "Ana Souza", "avatarId": avatar})
	}
	return []apitest.Case{
		done("kept, not so wide", keep(ana, wide), http.StatusOK, is(wide, 1600, 800)),
		done("kept again", keep(ana, wide), http.StatusOK, is(wide, 1600, 800)),
		done("kept as it was", keep(ana, drawn), http.StatusOK, is(drawn, 40, 30)),
		refused("somebody else's", keep(bruno, wide), http.StatusNotFound, problem.CodeNotFound),
		refused("not uploaded", keep(ana, await(t, v, ana, 10).ImageID), http.StatusConflict, portfolio.CodeNotUploaded),
		refused("a page", keep(ana, sent(t, v, ana, []byte("<html><script>alert(1)</script></html>"))), http.StatusBadRequest, portfolio.CodeNotAnImage),
		refused("a drawing that can run", keep(ana, sent(t, v, ana, []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`))), http.StatusBadRequest, portfolio.CodeNotAnImage),
		refused("half a picture", keep(ana, sent(t, v, ana, photograph(t, 200, 100)[:900])), http.StatusBadRequest, portfolio.CodeNotAnImage),
		refused("more pixels than it has bytes", keep(ana, sent(t, v, ana, huge(t))), http.StatusBadRequest, portfolio.CodeImageTooLarge),
		refused("far longer than wide", keep(ana, sent(t, v, ana, photograph(t, 1, 300))), http.StatusBadRequest, portfolio.CodeImageTooLarge),
		refused("nothing", keep(ana, nowhere), http.StatusNotFound, problem.CodeNotFound),
		invalid("no ULID", keep(ana, "image-1"), "path.id"),
		invalid("no bytes", ask(0), "body.size"),
		invalid("too many bytes", ask(10<<20+1), "body.size"),
		invalid("bytes of another type", ask("many"), "body.size"),
		done("found again", get("/images", ana), http.StatusOK, bodyMatches(func(l page[portfolio.Image]) bool {
			return slices.ContainsFunc(l.Items, func(i portfolio.Image) bool { return i.ImageID == drawn }) &&
				!slices.ContainsFunc(l.Items, func(i portfolio.Image) bool { return i.ImageID == theirs.ImageID })
		})),
		done("a cover", write("cover-1", cover(wide)), http.StatusCreated, bodyMatches(func(p portfolio.Post) bool { return p.CoverID == wide })),
		done("a cover, again", write("cover-1", cover(wide)), http.StatusOK, bodyMatches(func(p portfolio.Post) bool { return p.CoverID == wide })),
		refused("another cover by its key", write("cover-1", cover(drawn)), http.StatusUnprocessableEntity, problem.CodeKeyReused),
		refused("a cover of somebody else's", write("cover-2", cover(theirs.ImageID)), http.StatusBadRequest, portfolio.CodeNoSuchImage),
		refused("a cover that is not there", write("cover-3", cover(nowhere)), http.StatusBadRequest, portfolio.CodeNoSuchImage),
		invalid("a cover that is none", write("cover-4", cover("x")), "body.coverId"),
		done("a picture of oneself", me(drawn), http.StatusOK, bodyMatches(func(p portfolio.Profile) bool { return p.AvatarID == drawn })),
		done("for others", get("/users/"+ana, ""), http.StatusOK, bodyMatches(func(u portfolio.User) bool { return u.AvatarID == drawn })),
		refused("a picture of somebody else's", me(theirs.ImageID), http.StatusBadRequest, portfolio.CodeNoSuchImage),
		invalid("a picture that is none", me("x"), "body.avatarId"),
		done("no picture", request(http.MethodPut, "/me", ana, map[string]any{"email": "ana.souza@mail.com", "name": "Ana Souza"}), http.StatusOK,
			bodyMatches(func(p portfolio.Profile) bool { return p.AvatarID == "" })),
	}
}

// huge returns a PNG that claims to have 100,000 rows of 100,000 pixels.
func huge(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	file := out.Bytes()
	copy(file[16:], []byte{0, 1, 0x86, 0xa0, 0, 1, 0x86, 0xa0})
	// The checksum of the header, which the decoder verifies first.
	copy(file[29:], checksum(file[12:29]))
	return file
}

// TestServedImages: images are always served as images, and never change.
func TestServedImages(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	is := uploaded(t, v, ana, photograph(t, 2000, 1000))
	for path, width := range map[string]int{"images/" + is.ImageID: 1600, "images/" + is.ImageID + "/small": 640} {
		w := raw(t, v, http.MethodGet, path, nil)
		h := w.Header
		for name, want := range map[string]string{
			"Content-Type": "image/jpeg", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox",
			"Cache-Control": "public, max-age=31536000, immutable",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", path, name, h.Get(name), want)
			}
		}
		config, _, err := image.DecodeConfig(bytes.NewReader(w.Body))
		if err != nil || config.Width != width || config.Height != width/2 || h.Get("ETag") == "" {
			t.Errorf("%s: %+v %v %v", path, config, err, h)
		}
	}
	awaited := await(t, v, ana, 3)
	for _, path := range []string{
		"images/" + nowhere, "images/" + awaited.ImageID, "images/x", "images/..%2fuploads%2fx", "images/" + nowhere + "/small", "uploads/" + awaited.ImageID, "images/",
	} {
		if w := raw(t, v, http.MethodGet, path, nil); w.Status == http.StatusOK || w.Status >= http.StatusInternalServerError {
			t.Errorf("%s: %d", path, w.Status)
		} else if kind := w.Header.Get("Content-Type"); w.Status == http.StatusNotFound && kind != problem.ContentType {
			t.Errorf("%s: the problem is %s", path, kind)
		}
	}
	_, query, _ := strings.Cut(awaited.URL, "?")
	for at, body := range map[string]string{awaited.URL: "four", awaited.URL + "0": "abc", "uploads/" + nowhere + "?" + query: "abc"} {
		if w := raw(t, v, http.MethodPut, at, []byte(body)); w.Status < http.StatusBadRequest || w.Status >= http.StatusInternalServerError {
			t.Errorf("PUT %s of %d bytes: %d", at, len(body), w.Status)
		}
	}
}

// TestUnusedImages: images used by a post or profile are kept. Unused ones are removed after some days, and then their files.
func TestUnusedImages(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	category(t, v, "cat-123", "go")
	is := map[string]string{}
	for _, name := range []string{"cover", "text", "avatar", "draft", "none", "changed", "foreign"} {
		is[name] = uploaded(t, v, ana, drawing(t)).ImageID
	}
	is["awaited"] = await(t, v, ana, 5).ImageID
	showing := func(cover string, texts ...string) map[string]any {
		body := content("showing", "cat-123")
		for _, id := range texts {
			body["body"] = body["body"].(string) + "\n\n![a picture](../images/" + id + ")" //nolint:forcetypeassert // it is one
		}
		if cover != "" {
			body["coverId"] = cover
		}
		return body
	}
	writes := func(sub, key string, body map[string]any) portfolio.Post {
		r := request(http.MethodPost, "/posts", sub, body)
		r.Key = key
		return call[portfolio.Post](t, v, r)
	}
	p := writes(ana, "first-post", showing(is["cover"], is["text"], is["changed"]))
	setStatus(t, v, ana, p.PostID, "published")
	writes(ana, "second-post", showing("", is["draft"]))
	writes(bruno, "third-post", showing("", is["foreign"])) // no reason to keep it
	call[struct{}](t, v, request(http.MethodPut, "/me", ana, map[string]any{"email": "a@example.com", "name": "Ana", "avatarId": is["avatar"]}))
	call[struct{}](t, v, request(http.MethodPut, "/posts/"+p.PostID, ana, showing(is["cover"], is["text"])))

	check := v.Host.Service(portfolio.Name).Schedules[0].Run
	left := func() map[string]bool {
		if err := check(t.Context()); err != nil {
			t.Fatal(err)
		}
		v.Deliver(t)
		s := scan(t, v)
		s.sound(t)
		found := map[string]bool{}
		for name, id := range is {
			if _, there := s.images[id]; there {
				found[name] = true
			}
			served := raw(t, v, http.MethodGet, "images/"+id, nil).Status == http.StatusOK
			if served != (found[name] && name != "awaited") {
				t.Errorf("the bytes of %s are served: %v; it exists: %v", name, served, found[name])
			}
		}
		return found
	}
	if got := left(); len(got) != len(is) {
		t.Errorf("at once, only %v are left", got)
	}
	v.Clock.Advance(25 * time.Hour)
	if got := left(); len(got) != len(is)-1 || got["awaited"] {
		t.Errorf("after a day, %v are left", got)
	}
	for range 3 { // it is checked every week
		v.Clock.Advance(8 * 24 * time.Hour)
		if got := left(); len(got) != 4 || !got["cover"] || !got["text"] || !got["avatar"] || !got["draft"] {
			t.Errorf("after a week, %v are left", got)
		}
	}
	shows(t, v, "/", "en", "images/"+is["cover"])
	shows(t, v, "/p/"+site.Address("showing", p.PostID), "en", "../images/"+is["cover"], `og:image" content="http://blog.example.com/portfolio/images/`, "../images/"+is["avatar"]+"/small", `src="../images/`+is["text"])

	erase := request(http.MethodDelete, "/me", ana)
	erase.Header = map[string]string{"Confirm": "erase"}
	call[struct{}](t, v, erase)
	if got := left(); len(got) != 0 {
		t.Errorf("%v are left of an erased user", got)
	}
}

// TestMaxImages: of concurrent uploads for a user's last places, as many are accepted as there are places, and the others get
// the reason. Once the schedule has removed unused images, there is room again.
func TestMaxImages(t *testing.T) {
	t.Parallel()
	const most, asked = 500, 12
	v := apitest.Open(t, portfolio.System())
	for range most - asked/2 {
		await(t, v, ana, 10)
	}
	taken := 0
	for _, response := range apitest.Together(asked, func(int) *apitest.Response {
		return v.Insist(t, request(http.MethodPost, "/images", ana, map[string]any{"size": 10}))
	}) {
		switch {
		case response.Status == http.StatusOK:
			taken++
		case response.Status != http.StatusConflict || response.Problem(t).Code != portfolio.CodeTooManyImages || !strings.Contains(response.Problem(t).Detail, fmt.Sprint(most)):
			t.Errorf("no place: %d %s", response.Status, response.Body)
		}
	}
	s := scan(t, v)
	s.sound(t)
	if taken != asked/2 || len(s.images) != most {
		t.Errorf("%d of %d places were taken, the user has %d images", taken, asked/2, len(s.images))
	}
	await(t, v, bruno, 10)
	v.Clock.Advance(25 * time.Hour)
	if err := v.Host.Service(portfolio.Name).Schedules[0].Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, v, ana, 10)
	s = scan(t, v)
	s.sound(t)
	if len(s.images) != 1 || s.albums[ana] != 1 || s.albums[bruno] != 0 {
		t.Errorf("when all were removed, there are %d images; counted are %v", len(s.images), s.albums)
	}
}

// TestOwnImages: authors list their own images, newest first, without those that are not yet uploaded.
func TestOwnImages(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	var want []portfolio.Image
	for range 5 {
		is := uploaded(t, v, ana, drawing(t))
		want = append([]portfolio.Image{is}, want...)
		await(t, v, ana, 10)
		uploaded(t, v, bruno, drawing(t))
		v.Clock.Advance(time.Second)
	}
	if got := walk[portfolio.Image](t, v, "/images", ana, 2); !slices.Equal(got, want) {
		t.Errorf("the images are %+v, want %+v", got, want)
	}
}

func checksum(data []byte) []byte {
	return binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(data))
}
