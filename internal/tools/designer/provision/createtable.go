package provision

import (
	"encoding/json"
	"io"
)

// object is a JSON object whose members keep the order in which they were added.
type object struct {
	names  []string
	values []any
}

func (o *object) set(name string, value any) *object {
	o.names, o.values = append(o.names, name), append(o.values, value)
	return o
}

// MarshalJSON writes the members in order.
func (o *object) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, name := range o.names {
		if i > 0 {
			out = append(out, ',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(o.values[i])
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}'), nil
}

// writeJSON writes a value, indented by two spaces.
func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// WriteCreateTable writes the CreateTable request of a table, as accepted by the AWS CLI's create-table --cli-input-json.
func WriteCreateTable(w io.Writer, s *Spec) error { return writeJSON(w, s.createTable()) }

// WriteTimeToLive writes the UpdateTimeToLive request of a table that has a TTL attribute, for update-time-to-live --cli-input-json.
func WriteTimeToLive(w io.Writer, s *Spec) error {
	return writeJSON(w, new(object).set("TableName", s.Name).
		set("TimeToLiveSpecification", new(object).set("AttributeName", s.TTLAttr).set("Enabled", true)))
}

// createTable is the body of a CreateTable request; CloudFormation's properties are the same except for a few names.
func (s *Spec) createTable() *object {
	o := new(object).set("TableName", s.Name)
	var attributes []*object
	for _, a := range s.Attributes {
		attributes = append(attributes, new(object).set("AttributeName", a.Name).set("AttributeType", string(a.Type)))
	}
	o.set("AttributeDefinitions", attributes)
	sk := []string{s.SK}
	if s.SK == "" {
		sk = nil
	}
	o.set("KeySchema", keySchema([]string{s.PK}, sk))
	if s.OnDemand {
		o.set("BillingMode", "PAY_PER_REQUEST")
	} else {
		o.set("BillingMode", "PROVISIONED").set("ProvisionedThroughput", s.throughput())
	}
	for _, local := range []bool{true, false} {
		var list []*object
		for _, x := range s.Indexes {
			if x.Local != local {
				continue
			}
			index := new(object).set("IndexName", x.Name).set("KeySchema", keySchema(x.PK, x.SK)).set("Projection", x.projection())
			if !local && !s.OnDemand {
				index.set("ProvisionedThroughput", s.throughput())
			}
			list = append(list, index)
		}
		switch {
		case len(list) == 0:
		case local:
			o.set("LocalSecondaryIndexes", list)
		default:
			o.set("GlobalSecondaryIndexes", list)
		}
	}
	if s.Stream != "" {
		o.set("StreamSpecification", new(object).set("StreamEnabled", true).set("StreamViewType", s.Stream))
	}
	return o
}

func (s *Spec) throughput() *object {
	return new(object).set("ReadCapacityUnits", s.Capacity.Read).set("WriteCapacityUnits", s.Capacity.Write)
}

func keySchema(pk, sk []string) []*object {
	var out []*object
	for _, name := range pk {
		out = append(out, new(object).set("AttributeName", name).set("KeyType", "HASH"))
	}
	for _, name := range sk {
		out = append(out, new(object).set("AttributeName", name).set("KeyType", "RANGE"))
	}
	return out
}

func (x *IndexSpec) projection() *object {
	p := new(object).set("ProjectionType", x.Projection)
	if x.Projection == "INCLUDE" {
		p.set("NonKeyAttributes", x.Attributes)
	}
	return p
}
