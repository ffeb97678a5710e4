package console

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// elsewhere is the path prefix of the consoles of other endpoints, followed by their names.
const elsewhere = Path + "at/"

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,30}$`) })

// CheckName returns an error unless a name is valid for an endpoint in an address.
func CheckName(name string) error {
	if !nameForm().MatchString(name) {
		return fmt.Errorf("%q cannot name an endpoint: want up to 31 letters, digits, . _ and -", name)
	}
	return nil
}

// place is an endpoint that the page can switch to.
type place struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	Current bool   `json:"current,omitempty"`
}

// Several returns the console of the first endpoint, which serves those of the others below /_console/at/NAME/. All need unique
// names.
func Several(endpoints ...Options) *Console {
	all := make([]*Console, len(endpoints))
	places := make([]place, len(endpoints))
	byName := map[string]*Console{}
	for i, o := range endpoints {
		all[i] = New(o)
		places[i] = place{Name: o.Name, Path: elsewhere + o.Name + "/"}
		if i == 0 {
			places[i].Path = Path
		} else {
			byName[o.Name] = all[i]
		}
	}
	for i, c := range all {
		c.places = append([]place(nil), places...)
		c.places[i].Current = true
	}
	all[0].others = byName
	return all[0]
}

// other returns the console for a request if it is not this one, and the request as that console sees it.
func (c *Console) other(r *http.Request) (*Console, *http.Request) {
	rest, is := strings.CutPrefix(r.URL.Path, elsewhere)
	if !is {
		return nil, r
	}
	name, rest, slash := strings.Cut(rest, "/")
	if c.others[name] == nil || !slash {
		return nil, r
	}
	seen := r.Clone(r.Context())
	seen.URL.Path, seen.URL.RawPath = Path+rest, ""
	return c.others[name], seen
}
