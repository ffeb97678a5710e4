package attr

// Kind is the type of a value.
type Kind uint8

// The ten types. KindInvalid is the zero value and means absent.
const (
	KindInvalid Kind = iota
	KindString
	KindNumber
	KindBinary
	KindBool
	KindNull
	KindList
	KindMap
	KindStringSet
	KindNumberSet
	KindBinarySet
)

// String returns DynamoDB's type name: S, N, B, BOOL, NULL, L, M, SS, NS, BS.
func (k Kind) String() string {
	switch k {
	case KindString:
		return "S"
	case KindNumber:
		return "N"
	case KindBinary:
		return "B"
	case KindBool:
		return "BOOL"
	case KindNull:
		return "NULL"
	case KindList:
		return "L"
	case KindMap:
		return "M"
	case KindStringSet:
		return "SS"
	case KindNumberSet:
		return "NS"
	case KindBinarySet:
		return "BS"
	default:
		return "invalid"
	}
}

// KindOf returns the kind with a DynamoDB type name, or KindInvalid.
func KindOf(name string) Kind {
	for k := KindString; k <= KindBinarySet; k++ {
		if k.String() == name {
			return k
		}
	}
	return KindInvalid
}

// IsSet reports whether k is one of the three kinds of set.
func (k Kind) IsSet() bool { return k >= KindStringSet && k <= KindBinarySet }

// IsKey reports whether values of the kind can be keys: S, N or B.
func (k Kind) IsKey() bool { return k >= KindString && k <= KindBinary }

// Member returns the kind of the members of a set of kind k, or KindInvalid if k is not a set.
func (k Kind) Member() Kind {
	if !k.IsSet() {
		return KindInvalid
	}
	return k - KindStringSet + KindString
}
