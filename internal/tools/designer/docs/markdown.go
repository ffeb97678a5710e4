package docs

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func (p *page) heading(level int, title string) {
	p.line(strings.Repeat("#", level) + " " + text(title) + "\n")
}

func (p *page) line(s string) { p.out.WriteString(s + "\n") }

// paragraph writes a Markdown text; nothing if it is empty.
func (p *page) paragraph(s string) {
	if s != "" {
		p.line(s + "\n")
	}
}

// list writes Markdown as bullets.
func (p *page) list(items []string) {
	for _, i := range items {
		p.line("- " + i)
	}
	if len(items) > 0 {
		p.line("")
	}
}

// mermaid writes a diagram of these lines.
func (p *page) mermaid(lines []string) {
	p.line("```mermaid")
	for _, l := range lines {
		p.line(l)
	}
	p.line("```\n")
}

// table is a table of Markdown cells.
type table struct {
	head []string
	rows [][]string
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// table writes a table without the columns that are empty in every row; nothing if there are no rows.
func (p *page) table(t table) {
	if len(t.rows) == 0 {
		return
	}
	used := make([]bool, len(t.head))
	for _, row := range t.rows {
		for i, cell := range row {
			used[i] = used[i] || cell != ""
		}
	}
	write := func(cells []string) {
		p.out.WriteString("|")
		for i, c := range cells {
			if used[i] {
				p.out.WriteString(strings.TrimRight(" "+cellText(c), " ") + " |")
			}
		}
		p.out.WriteString("\n")
	}
	write(t.head)
	rule := make([]string, len(t.head))
	for i := range rule {
		rule[i] = "---"
	}
	write(rule)
	for _, row := range t.rows {
		write(row)
	}
	p.line("")
}

// cellText keeps Markdown inside its cell. In tables, a bar must be escaped in code, too.
func cellText(s string) string {
	return strings.ReplaceAll(oneLine(s), "|", `\|`)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

var (
	special = regexp.MustCompile("[\\\\`*_<&\\[\\]~$]")
	// blockish is what begins a heading, quotation, list or rule at the beginning of a line.
	blockish = regexp.MustCompile(`^(?:>|(?:#{1,6}|\d{1,9}[.)]|[+-]|-{3,})(?: |$))`)
)

// text is a plain text in Markdown, on one line.
func text(s string) string {
	s = special.ReplaceAllString(oneLine(s), `\$0`)
	if mark := strings.TrimRight(blockish.FindString(s), " "); mark != "" {
		s = mark[:len(mark)-1] + `\` + s[len(mark)-1:]
	}
	return s
}

// sentence is a text with a capital letter and a full stop.
func sentence(s string) string {
	if s = oneLine(s); s == "" {
		return ""
	}
	first, n := utf8.DecodeRuneInString(s)
	s = string(unicode.ToUpper(first)) + s[n:]
	if !strings.ContainsAny(s[len(s)-1:], ".!?") {
		s += "."
	}
	return s
}

// code is a text as code; nothing where there is none.
func code(s string) string {
	if s == "" {
		return ""
	}
	s = strings.Map(func(c rune) rune {
		if c < ' ' {
			return ' '
		}
		return c
	}, s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

func codes(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = code(s)
	}
	return strings.Join(out, ", ")
}

// label is a text inside the quotes of a Mermaid diagram, which has HTML's entities with a # for the &.
func label(s string) string {
	return strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "`", "#96;", "&", "#amp;").Replace(oneLine(s))
}

func quoted(s string) string { return `"` + label(s) + `"` }

// commentText is a text inside an HTML comment.
func commentText(s string) string { return strings.ReplaceAll(oneLine(s), "--", "- -") }

// number formats a number with thousands separators and up to two decimals.
func number(f float64) string {
	s := strconv.FormatFloat(math.Abs(f), 'f', 2, 64)
	whole, places, _ := strings.Cut(s, ".")
	if places = strings.TrimRight(places, "0"); places != "" {
		places = "." + places
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if f < 0 {
		whole = "-" + whole
	}
	return whole + places
}

// dollars formats an amount in dollars and cents.
func dollars(f float64) string {
	if f > 0 && f < 0.005 {
		return "under $0.01"
	}
	s := number(math.Round(f*100) / 100)
	if i := strings.IndexByte(s, '.'); i < 0 {
		s += ".00"
	} else if len(s)-i == 2 {
		s += "0"
	}
	return "$" + s
}

// given formats a positive number, "" for others.
func given(f float64) string {
	if f <= 0 {
		return ""
	}
	return number(f)
}

// units formats a number with the name of its unit.
func units(f float64, one string) string {
	if f == 1 {
		return "1 " + one
	}
	return number(f) + " " + one + "s"
}
