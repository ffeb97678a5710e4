package schema

import "slices"

// Person describes how the items of a person are exported and erased.
type Person struct {
	// Field is the field that identifies persons in the design.
	Field string
	// Parts are the ways to the person's items, in the order of erasure.
	Parts []*PersonPart
}

// PersonPart is a way to items of a person.
type PersonPart struct {
	Entity *Entity
	// Field is the input of Read that the person is; "" where Read takes the fields of an item of the part above.
	Field string
	// Read finds the items; nil if no read does, because they expire.
	Read *Read
	// Erase is the effect of an erasure on each item; nil if it stays. Keep is the reason why it stays, changed by Erase or not.
	Erase *Write
	Keep  string
	// Expires says that items stay until their time is over.
	Expires bool
	// Others says that the items are other people's, and are not exported.
	Others bool
	// Parts lead to the dependents of each item, which are erased before it.
	Parts []*PersonPart
}

// Kept says which items of a person are not deleted.
type Kept struct {
	Entity string
	// Reason is why they are kept; "" if they expire.
	Reason string
	// Changed says that they are kept without some of their fields; Expires, that they stay until their time is over.
	Changed, Expires bool
}

// Kept are the items that erasure does not delete.
func (p *Person) Kept() []Kept { return kept(p.Parts) }

func kept(parts []*PersonPart) []Kept {
	var out []Kept
	for _, part := range parts {
		if part.Keep != "" || part.Expires {
			out = append(out, Kept{Entity: part.Entity.Name, Reason: part.Keep, Changed: part.Erase != nil, Expires: part.Expires})
		}
		out = append(out, kept(part.Parts)...)
	}
	return out
}

// personPage is the number of a person's items that are read at once.
const personPage = 100

// PersonalRead is a read that finds the items of a person by one field, from the places that r says.
func PersonalRead(e *Entity, by string, r Read) *Read {
	r.Pattern, r.Entity, r.Many, r.By, r.Page = "Personal"+e.Name, e, true, []string{by}, personPage
	return &r
}

// EraseByKey is a write that deletes items without dependents, many at once.
func EraseByKey(e *Entity) *Write {
	w := &Write{Pattern: "Erase" + e.Name, Steps: []Step{{Action: Delete, Entity: e, Each: true}}, Lines: true, Batch: true}
	key := FieldsOf(e.Key)
	for i := range e.Fields {
		if f := &e.Fields[i]; slices.Contains(key, f.Name) {
			w.LineParams = append(w.LineParams, Param{Name: f.Name, Type: f.Type, MinBytes: f.MinBytes, MaxBytes: f.MaxBytes})
		}
	}
	return w
}
