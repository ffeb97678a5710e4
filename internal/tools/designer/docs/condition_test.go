package docs

import (
	"testing"

	"github.com/monotable/monotable/design"
)

// TestJudge tests conditions for an item with status 'open', total 9 and no note, and no other known fields. AWS's
// page on comparisons and functions is Expressions.OperatorsAndFunctions.html.
func TestJudge(t *testing.T) {
	known := map[string]operand{
		"status": {known: true, value: design.Constant{Kind: design.StringConstant, Text: "open"}},
		"total":  {known: true, value: design.Constant{Kind: design.NumberConstant, Text: "9"}},
		"paid":   {known: true, value: design.Constant{Kind: design.BoolConstant, Text: "true"}},
		"note":   {absent: true},
	}
	for text, want := range map[string]truth{
		"status = 'open'":                             yes,
		"status <> 'open'":                            no,
		"status IN ('shut', 'open')":                  yes,
		"status IN ('shut', :other)":                  open,
		"total < 10":                                  yes, // as numbers, not as texts
		"total BETWEEN 9 AND 10":                      yes,
		"total > 9.0":                                 no,
		"total = '9'":                                 no,
		"paid = true":                                 yes,
		"note = 'x'":                                  no,
		"note <> 'x'":                                 yes,
		"attribute_not_exists(note)":                  yes,
		"attribute_exists(status)":                    yes,
		"attribute_exists(other)":                     open,
		"begins_with(status, 'op')":                   yes,
		"begins_with(status, :x)":                     open,
		"size(status) > 3":                            open,
		"other = 1 OR status = 'open'":                yes,
		"other = 1 AND status = 'open'":               open,
		"NOT (other = 1 AND status = 'shut')":         yes,
		"status = :s":                                 open,
		"NOT status = 'open' AND other.city = 'Lima'": no,
	} {
		c, err := design.ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := judge(c, func(name string) operand { return known[name] }); got != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
	}
	if judge(nil, nil) != yes {
		t.Error("no condition always holds")
	}
}

// TestText tests that a design's text remains plain text in Markdown.
func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"1.2 login":        "1.2 login",
		"1. login":         `1\. login`,
		"# no heading":     `\# no heading`,
		"## no":            `#\# no`,
		"#1":               "#1",
		"> no quotation":   `\> no quotation`,
		"- no list":        `\- no list`,
		"---":              `--\-`,
		"-5":               "-5",
		"a *b* _c_ <d>":    `a \*b\* \_c\_ \<d>`,
		"two\n\n  lines":   "two lines",
		"[x](y) `z` \\":    "\\[x\\](y) \\`z\\` \\\\",
		"ÑANDÚ & $5 ~that": `ÑANDÚ \& \$5 \~that`,
	} {
		if got := text(in); got != want {
			t.Errorf("text(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"": "", "a": "`a`", "a`b": "``a`b``", "`": "`` ` ``", "a|b\nc": "`a|b c`"} {
		if got := code(in); got != want {
			t.Errorf("code(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[float64]string{0: "0", 0.5: "0.5", 1234567.891: "1,234,567.89", 999: "999", 1000: "1,000", -1234: "-1,234"} {
		if got := number(in); got != want {
			t.Errorf("number(%v) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[float64]string{0: "$0.00", 0.001: "under $0.01", 12.5: "$12.50", 9072: "$9,072.00"} {
		if got := dollars(in); got != want {
			t.Errorf("dollars(%v) = %q, want %q", in, got, want)
		}
	}
}
