package syntax

import "strings"

// Fence is a part of a document: the lines from From up to To, counted from 0, without the fence lines.
type Fence struct{ From, To int }

// Fences finds the designs in a document.
func Fences(s *Source) ([]Fence, error) {
	var found []Fence
	fault := func(line int, message, hint string) error {
		return Errors{{Source: s, Pos: Pos{line + 1, 1}, Message: message, Hint: hint}}
	}
	for i := 0; i < len(s.Lines); i++ {
		mark, info := fenceMark(s.Lines[i])
		if mark == "" {
			continue
		}
		to := i + 1
		for to < len(s.Lines) && !closes(s.Lines[to], mark) {
			to++
		}
		if w := strings.Fields(info); len(w) == 2 && (w[0] == "yaml" || w[0] == "yml") && w[1] == "design" {
			switch {
			case to == len(s.Lines):
				return nil, fault(i, "the code fence has no end", "end it with "+mark)
			case !strings.HasPrefix(s.Lines[i], mark):
				return nil, fault(i, "the code fence of a design is indented", "start it in the first column")
			}
			found = append(found, Fence{i + 1, to})
		}
		i = to
	}
	if found == nil {
		return nil, fault(0, "the document has no code fence with a design", "start one with ```yaml design")
	}
	return found, nil
}

// fenceMark returns the run of backquotes or tildes that opens a fence, and what stands behind it; "" for other lines.
func fenceMark(line string) (mark, info string) {
	text := strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		info := strings.TrimLeft(text, c)
		if n := len(text) - len(info); n >= 3 && len(line)-len(text) <= 3 && (c == "~" || !strings.Contains(info, c)) {
			return text[:n], info
		}
	}
	return "", ""
}

// closes reports whether a line ends the fence that mark opened.
func closes(line, mark string) bool {
	text := strings.TrimSpace(line)
	return len(text) >= len(mark) && strings.Trim(text, mark[:1]) == ""
}
