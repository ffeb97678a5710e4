package provision

import (
	"io"
	"strconv"
	"strings"
)

// WriteCloudFormation writes a CloudFormation template with the tables; if sam is set, one for SAM's transform, to
// which functions can be added. Placeholders of names become parameters of the template. Tables are retained when the
// stack is deleted, and have point-in-time recovery.
func WriteCloudFormation(w io.Writer, name string, specs []Spec, sam bool) error {
	out := new(object).set("AWSTemplateFormatVersion", "2010-09-09")
	if sam {
		out.set("Transform", "AWS::Serverless-2016-10-31")
	}
	out.set("Description", "Tables of "+name)
	taken := identifiers{}
	parameters, references := new(object), map[string]string{}
	for _, s := range specs {
		for _, p := range s.Placeholders {
			if references[p] == "" {
				references[p] = taken.take(logicalID(p))
				parameters.set(references[p], new(object).set("Type", "String"))
			}
		}
	}
	resources, outputs := new(object), new(object)
	for _, s := range specs {
		id := taken.take(logicalID(s.Name) + "Table")
		properties := s.createTable()
		for i, n := range properties.names {
			switch n {
			case "TableName":
				properties.values[i] = substituted(s.Name, s.Placeholders, references)
			case "StreamSpecification":
				properties.values[i] = new(object).set("StreamViewType", s.Stream)
			}
		}
		if s.TTLAttr != "" {
			properties.set("TimeToLiveSpecification", new(object).set("AttributeName", s.TTLAttr).set("Enabled", true))
		}
		properties.set("PointInTimeRecoverySpecification", new(object).set("PointInTimeRecoveryEnabled", true))
		resources.set(id, new(object).set("Type", "AWS::DynamoDB::Table").set("DeletionPolicy", "Retain").
			set("UpdateReplacePolicy", "Retain").set("Properties", properties))
		outputs.set(id+"Name", new(object).set("Value", new(object).set("Ref", id)))
		outputs.set(id+"Arn", new(object).set("Value", new(object).set("Fn::GetAtt", []string{id, "Arn"})))
	}
	if len(parameters.names) > 0 {
		out.set("Parameters", parameters)
	}
	return writeJSON(w, out.set("Resources", resources).set("Outputs", outputs))
}

// substituted is a name whose placeholders are replaced by references to parameters.
func substituted(name string, placeholders []string, references map[string]string) any {
	if len(placeholders) == 0 {
		return name
	}
	for _, p := range placeholders {
		name = strings.ReplaceAll(name, "{"+p+"}", "${"+references[p]+"}")
	}
	return new(object).set("Fn::Sub", name)
}

// identifiers are those of a template, which must be distinct.
type identifiers map[string]bool

// take reserves an identifier, with a number if it is taken: orders-v2 and orders_v2 have one logical ID.
func (taken identifiers) take(id string) string {
	unique := id
	for n := 2; taken[unique]; n++ {
		unique = id + strconv.Itoa(n)
	}
	taken[unique] = true
	return unique
}

// logicalID makes a CloudFormation ID from a name: letters and digits, each word capitalized.
func logicalID(name string) string {
	var out strings.Builder
	capital, braces := true, false
	for _, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		switch {
		case c == '{':
			braces = true
		case c == '}':
			braces, capital = false, true
		case braces && strings.Contains(name, "{"):
		case !letter && (c < '0' || c > '9'):
			capital = true
		default:
			if capital && c >= 'a' && c <= 'z' {
				c -= 'a' - 'A'
			}
			capital = false
			out.WriteRune(c)
		}
	}
	return out.String()
}
