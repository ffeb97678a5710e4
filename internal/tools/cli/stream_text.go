package cli

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// valueRunes is the maximum length of a value in a line.
const valueRunes = 60

// changeLine formats records as text:
//
//	2026-11-21T12:00:00Z  MODIFY  customer=ana order=1  total: 12.5 → 13, address.zip: 123 → 456, +paid=true, -note
func changeLine(schema []types.KeySchemaElement) func(types.Record) ([]byte, error) {
	return func(r types.Record) ([]byte, error) {
		d := r.Dynamodb
		if d == nil {
			d = &types.StreamRecord{}
		}
		event := string(r.EventName)
		if r.UserIdentity != nil {
			event += " (TTL)"
		}
		var keys []string
		for _, k := range schema {
			name := aws.ToString(k.AttributeName)
			keys = append(keys, shortText(name)+"="+valueText(d.Keys[name]))
		}
		line := fmt.Sprintf("%s  %-6s  %s", aws.ToTime(d.ApproximateCreationDateTime).UTC().Format(time.RFC3339), event, strings.Join(keys, " "))
		if changed := changeText(d); changed != "" {
			line += "  " + changed
		}
		return []byte(line), nil
	}
}

// changeText describes what changed as far as the stream's view shows it.
func changeText(d *types.StreamRecord) string {
	old, next := without(d.OldImage, d.Keys), without(d.NewImage, d.Keys)
	switch {
	case d.OldImage != nil && d.NewImage != nil:
		return strings.Join(differences(nil, "", old, next), ", ")
	case d.NewImage != nil:
		return assignments(next)
	case len(old) > 0:
		return "was " + assignments(old)
	default:
		return ""
	}
}

func without(image, keys map[string]types.AttributeValue) map[string]types.AttributeValue {
	image = maps.Clone(image)
	maps.DeleteFunc(image, func(name string, _ types.AttributeValue) bool { _, isKey := keys[name]; return isKey })
	return image
}

func assignments(image map[string]types.AttributeValue) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(image)) {
		all = append(all, shortText(name)+"="+valueText(image[name]))
	}
	return strings.Join(all, " ")
}

// differences appends the differences between two maps, with their paths.
func differences(dst []string, path string, old, next map[string]types.AttributeValue) []string {
	names := maps.Clone(old)
	if names == nil {
		names = map[string]types.AttributeValue{}
	}
	maps.Copy(names, next)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, had := old[name]
		after, has := next[name]
		at := path + shortText(name)
		switch {
		case !had:
			dst = append(dst, "+"+at+"="+valueText(after))
		case !has:
			dst = append(dst, "-"+at)
		default:
			dst = difference(dst, at, before, after)
		}
	}
	return dst
}

func difference(dst []string, at string, before, after types.AttributeValue) []string {
	m, isMap := before.(*types.AttributeValueMemberM)
	if n, ok := after.(*types.AttributeValueMemberM); ok && isMap {
		return differences(dst, at+".", m.Value, n.Value)
	}
	if from, to := fullText(before), fullText(after); from != to {
		return append(dst, at+": "+cut(from)+" → "+cut(to))
	}
	return dst
}

// valueText is a value, shortened if it is long.
func valueText(v types.AttributeValue) string { return cut(fullText(v)) }

func cut(s string) string {
	runes := []rune(s)
	if len(runes) <= valueRunes {
		return s
	}
	return string(runes[:valueRunes-1]) + "…"
}

// fullText is a value in a notation similar to JavaScript; sets are between < and >. Different values have
// different texts.
func fullText(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return shortText(v.Value)
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return "base64:" + base64.StdEncoding.EncodeToString(v.Value)
	case *types.AttributeValueMemberBOOL:
		return fmt.Sprint(v.Value)
	case *types.AttributeValueMemberNULL:
		return "null"
	case *types.AttributeValueMemberSS:
		return listText("<", v.Value, shortText, ">")
	case *types.AttributeValueMemberNS:
		return listText("<", v.Value, func(n string) string { return n }, ">")
	case *types.AttributeValueMemberBS:
		return listText("<", v.Value, func(b []byte) string { return fullText(&types.AttributeValueMemberB{Value: b}) }, ">")
	case *types.AttributeValueMemberL:
		return listText("[", v.Value, fullText, "]")
	case *types.AttributeValueMemberM:
		return listText("{", slices.Sorted(maps.Keys(v.Value)), func(name string) string {
			return shortText(name) + ": " + fullText(v.Value[name])
		}, "}")
	default:
		return "?"
	}
}

func listText[T any](open string, all []T, one func(T) string, closing string) string {
	texts := make([]string, len(all))
	for i, element := range all {
		texts[i] = one(element)
	}
	return open + strings.Join(texts, ", ") + closing
}

// shortText leaves words unchanged and quotes every text that could be mistaken for something else.
func shortText(s string) string {
	plain := s != "" && s != "true" && s != "false" && s != "null" && unicode.IsLetter([]rune(s)[0]) &&
		!strings.HasPrefix(s, "base64:") && strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.#:/@", r)
	}) < 0
	if plain {
		return s
	}
	return fmt.Sprintf("%q", s)
}
