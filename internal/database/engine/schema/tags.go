package schema

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

const (
	tagsMax           = 50
	tagKeyMax         = 128 // characters
	tagValueMax       = 256
	reservedTagPrefix = "aws:"
)

// CheckTags checks tags to be set. AWS's tagging service does this rather than the layer that checks member constraints, so the
// message for a missing key or value is that for an invalid one.
func CheckTags(tags []api.Tag) error {
	keys := make([]*string, len(tags))
	for i := range tags {
		keys[i] = tags[i].Key
		if err := checkTagKey(tags[i].Key); err != nil {
			return err
		}
		if v := tags[i].Value; v == nil || utf8.RuneCountInString(*v) > tagValueMax || !isTagText(*v) {
			return apierr.TagValueInvalid.With(orNull(v))
		}
	}
	seen := map[string]bool{}
	for _, key := range keys {
		if seen[*key] {
			return apierr.TagRepeated.With(*key)
		}
		seen[*key] = true
	}
	return nil
}

// CheckTagKeys checks the keys of tags to be removed.
func CheckTagKeys(keys []string) error {
	for i := range keys {
		if err := checkTagKey(&keys[i]); err != nil {
			return err
		}
	}
	return nil
}

func checkTagKey(key *string) error {
	switch {
	case key == nil, *key == "", utf8.RuneCountInString(*key) > tagKeyMax, !isTagText(*key):
		return apierr.TagKeyInvalid.With(orNull(key))
	case strings.HasPrefix(strings.ToLower(*key), reservedTagPrefix):
		return apierr.TagReserved.With(*key)
	}
	return nil
}

// isTagText reports whether a text consists of characters allowed in tags: letters, digits and spaces of any script, and + - = .
// _ : / @. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Tagging.html
func isTagText(text string) bool {
	for _, r := range text {
		if !unicode.In(r, unicode.L, unicode.N, unicode.Z) && !strings.ContainsRune("+-=._:/@", r) {
			return false
		}
	}
	return true
}

// orNull returns a text as AWS prints it if it may be missing.
func orNull(text *string) string {
	if text == nil {
		return "null"
	}
	return *text
}

// MergeTags adds tags accepted by CheckTags to existing ones; the result is sorted by key.
func MergeTags(old []catalog.Tag, in []api.Tag) ([]catalog.Tag, error) {
	merged := slices.Clone(old)
	for _, t := range in {
		i, found := slices.BinarySearchFunc(merged, *t.Key, func(t catalog.Tag, key string) int { return strings.Compare(t.Key, key) })
		if !found {
			merged = slices.Insert(merged, i, catalog.Tag{Key: *t.Key})
		}
		merged[i].Value = *t.Value
	}
	if len(merged) > tagsMax {
		return nil, apierr.TooManyTags.With()
	}
	return merged, nil
}
