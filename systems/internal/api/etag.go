package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

const (
	// gzipSuffix is added to the tag of a response that is compressed, which is another one byte for byte.
	gzipSuffix = "-gzip"
	// tagBytes of a hash are more than chance finds twice.
	tagBytes = 16
	// revalidated lets browsers keep a response, and ask each time whether it is still right.
	revalidated = "private, no-cache"
)

// tag gives a response of one thing a strong tag, made of its bytes, and answers 304 to who has it already. It is read all the same:
// what is saved is what goes to the client.
func (r *response[Shown]) tag(ctx context.Context) error {
	text, err := MarshalJSON(r.Body)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	of := base64.RawURLEncoding.EncodeToString(sum[:tagBytes])
	r.ETag = `"` + of + `"`
	if r.CacheControl == "" {
		r.CacheControl = revalidated
	}
	if has(requestOf(ctx).known, of) {
		r.Status = http.StatusNotModified
	}
	return nil
}

// has tells whether If-None-Match has a tag, in whichever encoding it was sent.
func has(list, tag string) bool {
	for known := range strings.SplitSeq(list, ",") {
		known = strings.Trim(strings.TrimPrefix(strings.TrimSpace(known), "W/"), `"`)
		if strings.TrimSuffix(known, gzipSuffix) == tag || known == "*" {
			return true
		}
	}
	return false
}

// documentTag says of an operation that responds with one thing that its responses have tags.
func documentTag(op *huma.Operation) {
	text := &huma.Schema{Type: huma.TypeString}
	header := *text
	header.Description = "Of these bytes; send it as If-None-Match to be answered 304 while they are the same"
	if ok := op.Responses[strconv.Itoa(http.StatusOK)]; ok != nil {
		ok.Headers["ETag"] = &huma.Param{Schema: &header}
		op.Responses[strconv.Itoa(http.StatusNotModified)] = &huma.Response{Description: "It is as it was"}
	}
}
