package sts

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/monotable/monotable/internal/database/identity"
)

// The limits of tags, as on AWS, in bytes.
const (
	tagsMax     = 50
	tagKeyMax   = 128
	tagValueMax = 256
)

// keySourceIdentity is the condition key for a session's source identity.
const keySourceIdentity = "aws:sourceidentity"

func sourceIdentity(keys map[string][]string) string {
	if texts := keys[keySourceIdentity]; len(texts) > 0 {
		return texts[0]
	}
	return ""
}

func invalidParameter(message string) *fault {
	return &fault{http.StatusBadRequest, "InvalidParameterValue", message}
}

// tag reads the tags of a session, and adds those inherited from the requesting session.
func (c *call) tag(s *identity.Session) error {
	names, err := c.list("Tags", ".Key", ".Value")
	if err != nil {
		return err
	}
	if len(names) > tagsMax {
		return tooLong("tags", tagsMax)
	}
	s.Tags = map[string]string{}
	for i, name := range names {
		value := c.form.Get(fmt.Sprintf("Tags.member.%d.Value", i+1))
		switch {
		case name == "" || len(name) > tagKeyMax:
			return validation("1 validation error detected: Value at 'tags.%d.member.key' failed to satisfy constraint: Member must have length between 1 and %d", i+1, tagKeyMax)
		case len(value) > tagValueMax:
			return tooLong(fmt.Sprintf("tags.%d.member.value", i+1), tagValueMax)
		case identity.HasTag(s.Tags, name):
			return invalidParameter("Duplicate tag keys found. Please note that Tag keys are case insensitive.")
		}
		s.Tags[name] = value
	}
	if s.Transitive, err = c.list("TransitiveTagKeys", ""); err != nil {
		return err
	}
	if len(s.Transitive) > tagsMax {
		return tooLong("transitiveTagKeys", tagsMax)
	}
	if err := checkTransitive(s); err != nil {
		return err
	}
	for _, key := range c.who.Transitive {
		if identity.HasTag(s.Tags, key) {
			return invalidParameter("One of the specified transitive tag keys can't be set because it conflicts with a transitive tag key from the calling session.")
		}
	}
	for _, key := range c.who.Transitive {
		s.Tags[key], s.Transitive = c.who.Tags[key], append(s.Transitive, key)
	}
	return nil
}

// checkTransitive rejects transitive keys without a tag, and spells the others like the tags.
func checkTransitive(s *identity.Session) error {
	for i, key := range s.Transitive {
		found := false
		for name := range s.Tags {
			if strings.EqualFold(name, key) {
				s.Transitive[i], found = name, true
			}
		}
		if !found {
			return invalidParameter("The specified transitive tag key must be included in the requested tags.")
		}
	}
	slices.Sort(s.Transitive)
	s.Transitive = slices.Compact(s.Transitive)
	return nil
}

// setSourceIdentity reads the source identity of a session. That of the requesting session is inherited and cannot be changed.
func (c *call) setSourceIdentity(s *identity.Session) error {
	source, inherited := c.form.Get("SourceIdentity"), sourceIdentity(c.who.Keys)
	switch {
	case source != "" && !sessionName().MatchString(source):
		return pattern("sourceIdentity", source, `[\w+=,.@-]*`)
	case source != "" && inherited != "" && source != inherited:
		return notAllowed(c.who.ARN, "sts:SetSourceIdentity", c.form.Get("RoleArn"))
	case source == "":
		source = inherited
	}
	if source != "" {
		s.Keys[keySourceIdentity] = []string{source}
	}
	return nil
}

// list reads NAME.member.1SUFFIX, NAME.member.2SUFFIX and so on. It rejects other members of NAME, except those with one of the
// other suffixes, so that a restriction of a session is not lost because of a wrong number.
func (c *call) list(name, suffix string, others ...string) ([]string, error) {
	var all []string
	read := 0
	for {
		member := fmt.Sprintf("%s.member.%d", name, len(all)+1)
		if !c.form.Has(member + suffix) {
			break
		}
		all = append(all, c.form.Get(member+suffix))
		read++
		for _, other := range others {
			if c.form.Has(member + other) {
				read++
			}
		}
	}
	for parameter := range c.form {
		if strings.HasPrefix(parameter, name+".") {
			read--
		}
	}
	if read != 0 {
		return nil, &fault{http.StatusBadRequest, "MalformedInput", "The members of " + name + " are not numbered from 1"}
	}
	return all, nil
}

// The claims of a web identity's token that become part of its session.
//
//	"https://aws.amazon.com/tags": {"principal_tags": {"Project": ["Automation"]}, "transitive_tag_keys": ["Project"]}
//	"https://aws.amazon.com/source_identity": "ana"
const (
	claimTags           = "https://aws.amazon.com/tags"
	claimSourceIdentity = "https://aws.amazon.com/source_identity"
)

// claimed reads the session's tags and source identity from a token.
func claimed(t jwt.Token, s *identity.Session) error {
	if texts := textsOf(t, claimSourceIdentity); t.Has(claimSourceIdentity) {
		if len(texts) != 1 || !sessionName().MatchString(texts[0]) {
			return invalidToken("The source identity of the token is not valid")
		}
		s.Keys[keySourceIdentity] = texts
	}
	invalid := invalidToken("The principal tags of the token are not valid")
	var claim map[string]any
	if t.Has(claimTags) && t.Get(claimTags, &claim) != nil {
		return invalid
	}
	principal, _ := claim["principal_tags"].(map[string]any)
	s.Tags = map[string]string{}
	for key, value := range principal {
		if list, ok := value.([]any); ok && len(list) == 1 {
			value = list[0]
		}
		text, ok := value.(string)
		if !ok || key == "" || len(key) > tagKeyMax || len(text) > tagValueMax || len(s.Tags) == tagsMax || identity.HasTag(s.Tags, key) {
			return invalid
		}
		s.Tags[key] = text
	}
	transitive, isList := claim["transitive_tag_keys"].([]any)
	if _, has := claim["transitive_tag_keys"]; has && !isList {
		return invalid
	}
	for _, key := range transitive {
		text, ok := key.(string)
		if !ok {
			return invalid
		}
		s.Transitive = append(s.Transitive, text)
	}
	return checkTransitive(s)
}
