package site

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

const (
	// inFeed is the number of posts in a feed.
	inFeed = 20
	// inSitemap is the number of addresses in a sitemap; search engines accept up to 50,000.
	inSitemap = 5000
)

// newest returns the newest published posts.
func (s *Site) newest(r *http.Request, v *view) error {
	page, err := s.DB.PostsByStatus(r.Context(), portfoliodb.PostsByStatusInput{Status: portfoliodb.PostStatusPublished}, table.PageOptions{Limit: inFeed})
	if err != nil {
		return err
	}
	for _, p := range page.Items {
		v.Posts = append(v.Posts, cardOf(p))
	}
	return s.named(r.Context(), v, v.Posts)
}

type atomLink struct {
	Rel  string `xml:"rel,attr,omitempty"`
	Type string `xml:"type,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID        string   `xml:"id"`
	Title     string   `xml:"title"`
	Link      atomLink `xml:"link"`
	Published string   `xml:"published"`
	Updated   string   `xml:"updated"`
	Author    string   `xml:"author>name"`
	Category  *struct {
		Term  string `xml:"term,attr"`
		Label string `xml:"label,attr"`
	} `xml:"category"`
	Summary string `xml:"summary"`
}

// atom serves an Atom feed (RFC 4287).
func (s *Site) atom(w http.ResponseWriter, r *http.Request) error {
	v := s.view(r)
	if err := s.newest(r, v); err != nil {
		return err
	}
	feed := struct {
		XMLName  xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		ID       string      `xml:"id"`
		Title    string      `xml:"title"`
		Subtitle string      `xml:"subtitle"`
		Updated  string      `xml:"updated"`
		Links    []atomLink  `xml:"link"`
		Entries  []atomEntry `xml:"entry"`
	}{
		ID: v.Base + "/", Title: v.Say("site"), Subtitle: v.Say("about"), Updated: v.ISO(latest(v.Posts)),
		Links: []atomLink{{Rel: "self", Type: "application/atom+xml", Href: v.Base + "/feed.atom"}, {Rel: "alternate", Type: "text/html", Href: v.Base + "/"}},
	}
	for _, p := range v.Posts {
		at := v.Base + "/p/" + p.Address
		entry := atomEntry{
			// The id stays the same when the title changes.
			ID: v.Base + "/p/" + p.Address[len(p.Address)-idLength:], Title: p.Title, Link: atomLink{Rel: "alternate", Type: "text/html", Href: at},
			Published: v.ISO(p.At), Updated: v.ISO(p.Updated), Author: p.Author, Summary: p.Excerpt,
		}
		if p.Category.Slug != "" {
			entry.Category = &struct {
				Term  string `xml:"term,attr"`
				Label string `xml:"label,attr"`
			}{p.Category.Slug, p.Category.Name}
		}
		feed.Entries = append(feed.Entries, entry)
	}
	return writeXML(w, r, "application/atom+xml; charset=utf-8", feed)
}

// latest returns the time of the last change, or a constant time if there are no posts.
func latest(posts []card) time.Time {
	at := time.Unix(0, 0)
	for _, p := range posts {
		if p.Updated.After(at) {
			at = p.Updated
		}
	}
	return at
}

type jsonAuthor struct {
	Name string `json:"name"`
}

type jsonItem struct {
	ID        string       `json:"id"`
	URL       string       `json:"url"`
	Title     string       `json:"title"`
	Summary   string       `json:"summary,omitempty"`
	Text      string       `json:"content_text"`
	Published string       `json:"date_published"`
	Modified  string       `json:"date_modified"`
	Authors   []jsonAuthor `json:"authors"`
	Image     string       `json:"image,omitempty"`
	Tags      []string     `json:"tags,omitempty"`
}

// jsonFeed serves a JSON Feed 1.1.
func (s *Site) jsonFeed(w http.ResponseWriter, r *http.Request) error {
	v := s.view(r)
	if err := s.newest(r, v); err != nil {
		return err
	}
	feed := struct {
		Version     string     `json:"version"`
		Title       string     `json:"title"`
		Description string     `json:"description"`
		Home        string     `json:"home_page_url"`
		URL         string     `json:"feed_url"`
		Items       []jsonItem `json:"items"`
	}{"https://jsonfeed.org/version/1.1", v.Say("site"), v.Say("about"), v.Base + "/", v.Base + "/feed.json", []jsonItem{}}
	for _, p := range v.Posts {
		item := jsonItem{
			ID: v.Base + "/p/" + p.Address[len(p.Address)-idLength:], URL: v.Base + "/p/" + p.Address, Title: p.Title, Summary: p.Excerpt, Text: p.Excerpt,
			Published: v.ISO(p.At), Modified: v.ISO(p.Updated), Authors: []jsonAuthor{{p.Author}},
		}
		if p.Cover != "" {
			item.Image = v.Base + "/images/" + p.Cover
		}
		if p.Category.Name != "" {
			item.Tags = []string{p.Category.Name}
		}
		feed.Items = append(feed.Items, item)
	}
	text, err := json.MarshalIndent(feed, "", " ")
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/feed+json; charset=utf-8")
	w.Header().Add("Vary", "Accept-Language")
	respond(w, r, text)
	return nil
}

type sitemapURL struct {
	Location string `xml:"loc"`
	Modified string `xml:"lastmod,omitempty"`
}

// sitemap lists the front page, the categories and the newest posts.
func (s *Site) sitemap(w http.ResponseWriter, r *http.Request) error {
	v := s.view(r)
	if err := s.named(r.Context(), v, nil); err != nil {
		return err
	}
	list := []sitemapURL{{Location: v.Base + "/"}}
	for _, c := range v.Categories {
		list = append(list, sitemapURL{Location: v.Base + "/c/" + c.Slug})
	}
	for p, err := range s.DB.PostsByStatusAll(r.Context(), portfoliodb.PostsByStatusInput{Status: portfoliodb.PostStatusPublished}) {
		if err != nil {
			return err
		}
		if len(list) == inSitemap {
			break
		}
		list = append(list, sitemapURL{v.Base + "/p/" + Address(p.Title, p.PostID), v.ISO(p.UpdatedAt)})
	}
	return writeXML(w, r, "application/xml; charset=utf-8", struct {
		XMLName xml.Name     `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
		URLs    []sitemapURL `xml:"url"`
	}{URLs: list})
}

// robots only takes effect at the root of a host.
func (s *Site) robots(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	respond(w, r, []byte("User-agent: *\nDisallow: /studio/\nSitemap: "+s.base(r)+"/sitemap.xml\n"))
	return nil
}

func writeXML(w http.ResponseWriter, r *http.Request, contentType string, document any) error {
	text, err := xml.MarshalIndent(document, "", " ")
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Add("Vary", "Accept-Language")
	respond(w, r, append([]byte(xml.Header), text...))
	return nil
}
