package policy

import "strings"

// Parse compiles a document. The error is an *Error.
func Parse(document string, kind Kind) (*Policy, error) {
	p := parser{reader: reader{document: document}, kind: kind}
	root, err := read(document)
	if err != nil {
		return nil, err
	}
	if err := p.policy(&root); err != nil {
		return nil, err
	}
	return &p.out, nil
}

type parser struct {
	reader
	kind   Kind
	syntax syntax // of texts with variables
	out    Policy
}

func (p *parser) policy(root *node) *Error {
	if err := p.only(root, "Version", "Id", "Statement"); err != nil {
		return err
	}
	if v, ok := root.member("Version"); ok {
		switch {
		case v.value.kind == textNode && v.value.text == "2012-10-17":
			p.syntax = variables
		case v.value.kind != textNode || v.value.text != "2008-10-17":
			return p.fault(VersionInvalid, v.value.offset, "")
		}
	}
	if id, ok := root.member("Id"); ok && id.value.kind != textNode {
		return p.fault(NotText, id.value.offset, "Id")
	}
	statements, ok := root.member("Statement")
	if !ok {
		return p.fault(StatementInvalid, len(p.document), "")
	}
	list := statements.value.oneOrMany()
	if len(list) == 0 {
		return p.fault(StatementMissing, statements.value.offset, "")
	}
	for i := range list {
		if list[i].kind != objectNode {
			return p.fault(StatementInvalid, list[i].offset, "")
		}
	}
	for i := range list {
		s, err := p.statement(&list[i])
		if err != nil {
			return err
		}
		p.out.statements = append(p.out.statements, s)
	}
	return nil
}

// only rejects members with other names.
func (p *parser) only(n *node, names ...string) *Error {
next:
	for i := range n.members {
		for _, name := range names {
			if n.members[i].name == name {
				continue next
			}
		}
		return p.fault(FieldUnknown, n.members[i].offset, n.members[i].name)
	}
	return nil
}

func (p *parser) statement(n *node) (s Statement, err *Error) {
	err = p.only(n, "Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource", "Condition")
	if err != nil {
		return s, err
	}
	for _, part := range []func(*node, *Statement) *Error{p.sid, p.effect, p.principals, p.actions, p.resources, p.conditions} {
		if err := part(n, &s); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (p *parser) sid(n *node, s *Statement) *Error {
	m, ok := n.member("Sid")
	if !ok {
		return nil
	}
	if m.value.kind != textNode {
		return p.fault(NotText, m.value.offset, "Sid")
	}
	s.Sid = m.value.text
	for i := range s.Sid {
		if p.kind == Identity && !alphanumeric(s.Sid[i]) {
			return p.fault(SidInvalid, m.value.offset, "")
		}
	}
	for i := range p.out.statements {
		if s.Sid != "" && p.out.statements[i].Sid == s.Sid {
			return p.fault(SidRepeated, m.value.offset, "")
		}
	}
	return nil
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

func (p *parser) effect(n *node, s *Statement) *Error {
	m, ok := n.member("Effect")
	if !ok {
		return p.fault(FieldMissing, n.offset, "Effect")
	}
	equal := func(a, b string) bool { return a == b }
	if p.kind == Resource { // DynamoDB accepts "allow" in its resources' policies
		equal = strings.EqualFold
	}
	s.Deny = equal(m.value.text, "Deny")
	if m.value.kind != textNode || !s.Deny && !equal(m.value.text, "Allow") {
		return p.fault(EffectInvalid, m.value.offset, m.value.text)
	}
	return nil
}

// oneOf returns a member or its negation; a statement has at most one of them.
func (p *parser) oneOf(n *node, name string) (m member, negated, ok bool, err *Error) {
	m, ok = n.member(name)
	not, negated := n.member("Not" + name)
	if ok && negated {
		return m, false, true, p.fault(FieldAmbiguous, not.offset, name)
	}
	if negated {
		return not, true, true, nil
	}
	return m, false, ok, nil
}

// texts returns the strings of a member, at least one.
func (p *parser) texts(m *member) ([]node, *Error) {
	list := m.value.oneOrMany()
	if len(list) == 0 {
		return nil, p.fault(NotTexts, m.value.offset, strings.TrimPrefix(m.name, "Not"))
	}
	for i := range list {
		if list[i].kind != textNode {
			return nil, p.fault(NotTexts, list[i].offset, strings.TrimPrefix(m.name, "Not"))
		}
	}
	return list, nil
}

func (p *parser) actions(n *node, s *Statement) *Error {
	m, negated, ok, err := p.oneOf(n, "Action")
	if err != nil {
		return err
	}
	if !ok {
		return p.fault(FieldMissing, n.offset, "Action")
	}
	s.NotAction = negated
	list, err := p.texts(&m)
	if err != nil {
		return err
	}
	for _, a := range list {
		vendor, name, _ := strings.Cut(a.text, ":")
		if a.text != "*" && (vendor == "" || name == "") {
			return p.fault(ActionInvalid, a.offset, a.text)
		}
		c, _, _ := compilePattern(a.text, wildcards|ignoringCase)
		s.Actions, s.actions = append(s.Actions, a.text), append(s.actions, c)
	}
	return nil
}

func (p *parser) resources(n *node, s *Statement) *Error {
	m, negated, ok, err := p.oneOf(n, "Resource")
	switch {
	case err != nil:
		return err
	case ok && p.kind == Trust:
		return p.fault(FieldProhibited, m.offset, m.name)
	case p.kind == Trust:
		s.resources = []resource{{all: true}}
		return nil
	case !ok:
		return p.fault(FieldMissing, n.offset, "Resource")
	}
	s.NotResource = negated
	list, err := p.texts(&m)
	if err != nil {
		return err
	}
	for _, r := range list {
		if r.text != "*" && !strings.HasPrefix(r.text, "arn:") {
			return p.fault(ResourceInvalid, r.offset, r.text)
		}
		c, bad, ok := compileResource(r.text, wildcards|p.syntax)
		if !ok {
			return p.fault(VariableInvalid, r.offset, bad)
		}
		s.Resources, s.resources = append(s.Resources, r.text), append(s.resources, c)
	}
	return nil
}

func (p *parser) principals(n *node, s *Statement) *Error {
	m, negated, ok, err := p.oneOf(n, "Principal")
	switch {
	case err != nil:
		return err
	case ok && p.kind == Identity:
		return p.fault(FieldProhibited, m.offset, m.name)
	case p.kind == Identity:
		return nil
	case !ok:
		return p.fault(FieldMissing, n.offset, "Principal")
	}
	s.NotPrincipal = negated
	if m.value.kind == textNode {
		if m.value.text != "*" {
			return p.fault(PrincipalInvalid, m.value.offset, m.value.text)
		}
		s.Principals = []PrincipalName{{Kind: "AWS", Name: "*"}}
		return nil
	}
	for i := range m.value.members {
		of := &m.value.members[i]
		list := of.value.oneOrMany()
		for _, name := range list {
			principal := PrincipalName{Kind: of.name, Name: name.text}
			if name.kind != textNode || !principal.valid() {
				return p.fault(PrincipalInvalid, name.offset, of.name+":"+name.text)
			}
			if accountID(name.text) {
				principal.account = name.text
			} else if parts := strings.Split(name.text, ":"); of.name == "AWS" && parts[len(parts)-1] == "root" {
				principal.account = parts[len(parts)-2]
			}
			s.Principals = append(s.Principals, principal)
		}
		if len(list) == 0 {
			return p.fault(PrincipalInvalid, of.offset, of.name)
		}
	}
	if len(s.Principals) == 0 {
		return p.fault(PrincipalInvalid, m.value.offset, m.value.text)
	}
	return nil
}

// valid reports whether a name is allowed in a document.
func (n PrincipalName) valid() bool {
	switch n.Kind {
	case "AWS":
		return n.Name == "*" || accountID(n.Name) || identityARN(n.Name)
	case "Service", "Federated", "CanonicalUser":
		return n.Name != ""
	default:
		return false
	}
}

// accountID reports whether a text is the id of an account: 12 digits.
func accountID(text string) bool {
	return len(text) == 12 && strings.Trim(text, "0123456789") == ""
}

// identityARN reports whether a text is the ARN of an account's root, a user, a role or a session.
func identityARN(text string) bool {
	parts := strings.SplitN(text, ":", arnParts)
	if len(parts) != arnParts || parts[0] != "arn" || !strings.HasPrefix(parts[1], "aws") || parts[3] != "" || !accountID(parts[4]) {
		return false
	}
	of := func(prefix string) bool { return len(parts[5]) > len(prefix) && strings.HasPrefix(parts[5], prefix) }
	switch parts[2] {
	case "iam":
		return parts[5] == "root" || of("user/") || of("role/")
	case "sts":
		return of("assumed-role/") || of("federated-user/")
	default:
		return false
	}
}
