package provision

import (
	"io"
	"slices"
	"strings"
)

// WriteTerraform writes the tables as Terraform's JSON (NAME.tf.json): resources aws_dynamodb_table of the provider
// hashicorp/aws, which is required by name. Placeholders of names become variables.
func WriteTerraform(w io.Writer, specs []Spec) error {
	variables, tables := new(object), new(object)
	references, named, taken := map[string]string{}, reserved(), identifiers{}
	for _, s := range specs {
		for _, p := range s.Placeholders {
			if references[p] == "" {
				references[p] = named.take(p)
				variables.set(references[p], new(object).set("type", "string"))
			}
		}
		id := strings.ToLower(logicalID(s.Name))
		if id == "" || id[0] >= '0' && id[0] <= '9' {
			id = "table" + id // identifiers begin with a letter
		}
		tables.set(taken.take(id), s.terraform(references))
	}
	aws := new(object).set("source", "hashicorp/aws")
	out := new(object).set("terraform", new(object).set("required_providers", new(object).set("aws", aws)))
	if len(variables.names) > 0 {
		out.set("variable", variables)
	}
	return writeJSON(w, out.set("resource", new(object).set("aws_dynamodb_table", tables)))
}

// reserved are the names that Terraform allows for no variable.
// https://developer.hashicorp.com/terraform/language/values/variables
func reserved() identifiers {
	return identifiers{
		"source": true, "version": true, "providers": true, "count": true, "for_each": true, "lifecycle": true, "depends_on": true, "locals": true,
	}
}

// terraform is the table's resource, with references to variables for the placeholders of its name.
func (s *Spec) terraform(references map[string]string) *object {
	name := s.Name
	for _, p := range s.Placeholders {
		name = strings.ReplaceAll(name, "{"+p+"}", "${var."+references[p]+"}")
	}
	o := new(object).set("name", name).set("hash_key", s.PK)
	if s.SK != "" {
		o.set("range_key", s.SK)
	}
	if s.OnDemand {
		o.set("billing_mode", "PAY_PER_REQUEST")
	} else {
		o.set("billing_mode", "PROVISIONED").set("read_capacity", s.Capacity.Read).set("write_capacity", s.Capacity.Write)
	}
	var attributes, global, local []*object
	for _, a := range s.Attributes {
		attributes = append(attributes, new(object).set("name", a.Name).set("type", string(a.Type)))
	}
	for _, x := range s.Indexes {
		index := new(object).set("name", x.Name)
		switch {
		case x.Local:
			index.set("range_key", x.SK[0])
		case len(x.PK) == 1 && len(x.SK) <= 1:
			index.set("hash_key", x.PK[0])
			if len(x.SK) == 1 {
				index.set("range_key", x.SK[0])
			}
		default: // a multi-attribute key
			var keys []*object
			for _, k := range keySchema(x.PK, x.SK) {
				keys = append(keys, new(object).set("attribute_name", k.values[0]).set("key_type", k.values[1]))
			}
			index.set("key_schema", keys)
		}
		index.set("projection_type", x.Projection)
		if x.Projection == "INCLUDE" {
			index.set("non_key_attributes", escaped(x.Attributes...))
		}
		if x.Local {
			local = append(local, index)
			continue
		}
		if !s.OnDemand {
			index.set("read_capacity", s.Capacity.Read).set("write_capacity", s.Capacity.Write)
		}
		global = append(global, index)
	}
	o.set("attribute", attributes)
	if local != nil {
		o.set("local_secondary_index", local)
	}
	if global != nil {
		o.set("global_secondary_index", global)
	}
	if s.TTLAttr != "" {
		o.set("ttl", new(object).set("attribute_name", escaped(s.TTLAttr)[0]).set("enabled", true))
	}
	if s.Stream != "" {
		o.set("stream_enabled", true).set("stream_view_type", s.Stream)
	}
	return o.set("point_in_time_recovery", new(object).set("enabled", true)).
		set("lifecycle", new(object).set("prevent_destroy", true))
}

// escaped are attribute names as Terraform's strings, in which ${ and %{ begin a template. Names of tables, indexes and key
// attributes have no such characters.
func escaped(names ...string) []string {
	out := slices.Clone(names)
	for i, name := range out {
		out[i] = strings.NewReplacer("${", "$${", "%{", "%%{").Replace(name)
	}
	return out
}
