package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

const (
	// gzipSuffix is added to the tag of a compressed response, whose bytes differ.
	gzipSuffix = "-gzip"
	// tagBytes is how many bytes of a hash are enough to avoid collisions.
	tagBytes = 16
	// A version is a number of milliseconds, followed by the hash.
	versionBase, versionEnd = 36, "."
	versionMax              = 253402300799999 // the last one of the year 9999
	// revalidated lets browsers store a response, but check each time whether it is current.
	revalidated = "private, no-cache"
)

// Versioned is implemented by responses for items that several people edit. The version is the time of the last change.
type Versioned interface{ Version() time.Time }

// Seen is embedded in inputs of operations that change something Versioned. The operation changes the item only if its version
// lies between From and To, inclusive: that is the condition of the design's write, whose parameters have these names. Otherwise
// the write fails with the error of a problem.ChangedSince rule, and the response is 412.
type Seen struct {
	IfMatch string `header:"If-Match" maxLength:"200" doc:"The ETag of the version that you have read. The change succeeds only if that is still current; without it, or with *, it overwrites any version."`
	// From and To are the version that the caller has read, or the bounds of all versions.
	From, To time.Time
	// At is the version that the change makes. The write's condition says that it is later than the item's.
	At time.Time
}

// seenInput is an input that embeds Seen.
type seenInput interface{ see() }

func (s *Seen) see() { s.From, s.To = between(s.IfMatch) }

// Has reports whether a version may be changed, for functions that read the item before they write.
func (s *Seen) Has(version time.Time) bool { return !version.Before(s.From) && !version.After(s.To) }

// Rewritten lets a change of several steps continue at the version that its last step has made, or at a later one.
func (s *Seen) Rewritten() { _, s.To = between("") }

// Write calls a write of the design with At set: the time, or the millisecond after the version that the write has found, which
// stored takes from its error (the zero time if there is none). Two changes in one millisecond would otherwise make the same
// version, and a caller who has read the first would overwrite the second.
func (s *Seen) Write(now time.Time, stored func(error) time.Time, write func() error) error {
	for s.At = now.UTC().Truncate(time.Millisecond); ; {
		err := write()
		version := stored(err)
		if err == nil || version.Before(s.At) || !s.Has(version) {
			return err
		}
		s.At = After(version)
	}
}

// After returns the version that follows another one most closely.
func After(version time.Time) time.Time { return version.Add(time.Millisecond) }

// between returns the bounds of the versions that an If-Match value allows.
func between(ifMatch string) (from, to time.Time) {
	value := strings.TrimSpace(ifMatch)
	if value == "" || value == "*" {
		return time.Unix(0, 0).UTC(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	}
	version, _, _ := strings.Cut(strings.Trim(value, `"`), versionEnd)
	at, err := strconv.ParseInt(version, versionBase, 64)
	if err != nil || strings.HasPrefix(value, "W/") || at < 0 || at > versionMax {
		return time.Unix(0, 0).UTC(), time.Unix(0, 0).UTC() // no stored item has this version
	}
	return time.UnixMilli(at).UTC(), time.UnixMilli(at).UTC()
}

// tag gives a single-item response a strong tag, derived from its bytes and, if it has one, its version.
func (r *response[Shown]) tag() (string, error) {
	text, err := MarshalJSON(r.Body)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	of := base64.RawURLEncoding.EncodeToString(sum[:tagBytes])
	if v, ok := any(r.Body).(Versioned); ok {
		of = strconv.FormatInt(v.Version().UnixMilli(), versionBase) + versionEnd + of
	}
	r.ETag = `"` + of + `"`
	return of, nil
}

// revalidate tags the response of a read, and returns 304 if the caller already has it. The item is read in any case: this saves
// transfer, not reads.
func (r *response[Shown]) revalidate(ctx context.Context) error {
	of, err := r.tag()
	if err != nil {
		return err
	}
	if r.CacheControl == "" {
		r.CacheControl = revalidated
	}
	if has(requestOf(ctx).known, of) {
		r.Status = http.StatusNotModified
	}
	return nil
}

// has reports whether If-None-Match contains a tag, in any encoding.
func has(list, tag string) bool {
	for known := range strings.SplitSeq(list, ",") {
		known = strings.Trim(strings.TrimPrefix(strings.TrimSpace(known), "W/"), `"`)
		if strings.TrimSuffix(known, gzipSuffix) == tag || known == "*" {
			return true
		}
	}
	return false
}

// documentTag documents the ETag of an operation that returns a single item.
func documentTag(op *huma.Operation, t *traits) {
	about := "The version of the response; with it as If-None-Match, the response is 304 while nothing has changed"
	if t.versioned {
		about += ", and with it as If-Match, a change fails if there was another one since"
	}
	ok := op.Responses[strconv.Itoa(http.StatusOK)]
	if ok == nil {
		return
	}
	ok.Headers["ETag"] = &huma.Param{Schema: &huma.Schema{Type: huma.TypeString, Description: about}}
	if t.tagged {
		op.Responses[strconv.Itoa(http.StatusNotModified)] = &huma.Response{Description: "It is as it was"}
	}
}
