package cloudwatch

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The limits of expressions.
const (
	expressionMax = 2048
	// mathBudget is how many values the expressions of one request may process: about a second's work.
	mathBudget = 5_000_000
	// mathDepth is the maximum nesting of expressions, including references to each other.
	mathDepth = 1000
)

// points are the values of a graph by time, in seconds since the epoch.
type points map[int64]float64

// operand is the value of a subexpression: a number, a time series, or an array of them.
type operand struct {
	scalar  *float64
	series  []points
	several bool // series is an array rather than a single time series
}

func number(v float64) operand         { return operand{scalar: &v} }
func timeSeries(p points) operand      { return operand{series: []points{p}} }
func array(all []points) operand       { return operand{series: all, several: true} }
func (o operand) isOne() bool          { return o.scalar == nil && !o.several }
func mathFault(text, why string) error { return invalid("Error in expression '%s': %s", text, why) }

// metricMath evaluates the expressions of a request: arithmetic and metric math functions on its metrics and on each other.
// Expressions are parsed by Go's parser, whose operators + - * / have the same precedence.
type metricMath struct {
	queries []metricDataQuery
	series  []points // by query; nil for an expression that has not been evaluated
	begun   []bool
	budget  int
	depth   int
}

// evaluate sets the series of expression i, and of those it refers to.
func (m *metricMath) evaluate(i int) error {
	text := m.queries[i].Expression
	if m.begun[i] {
		return mathFault(text, "it refers to itself.")
	}
	m.begun[i] = true
	tree, err := parser.ParseExpr(text)
	if err != nil {
		return mathFault(text, "unexpected syntax. This server has the operators + - * / and the functions "+strings.Join(functionNames(), ", ")+".")
	}
	result, err := m.value(text, tree)
	if err != nil {
		return err
	}
	if !result.isOne() {
		return mathFault(text, "the result must be one time series.")
	}
	m.series[i] = result.series[0]
	return nil
}

func (m *metricMath) value(text string, n ast.Expr) (operand, error) {
	if m.depth++; m.depth > mathDepth {
		return operand{}, mathFault(text, "it is nested too deeply.")
	}
	defer func() { m.depth-- }()
	switch n := n.(type) {
	case *ast.ParenExpr:
		return m.value(text, n.X)
	case *ast.BasicLit:
		if v, err := strconv.ParseFloat(n.Value, 64); err == nil && (n.Kind == token.INT || n.Kind == token.FLOAT) {
			return number(v), nil
		}
	case *ast.Ident:
		return m.named(text, n.Name)
	case *ast.UnaryExpr:
		if n.Op == token.SUB {
			return m.binary(text, "-", &ast.BasicLit{Kind: token.INT, Value: "0"}, n.X)
		}
	case *ast.BinaryExpr:
		return m.binary(text, n.Op.String(), n.X, n.Y)
	case *ast.CallExpr:
		if name, ok := n.Fun.(*ast.Ident); ok && n.Ellipsis == token.NoPos {
			return m.call(text, name.Name, n.Args)
		}
	}
	return operand{}, mathFault(text, "unexpected syntax.")
}

// named returns the time series of a query.
func (m *metricMath) named(text, id string) (operand, error) {
	i := slices.IndexFunc(m.queries, func(q metricDataQuery) bool { return q.ID == id })
	if i < 0 {
		return operand{}, mathFault(text, "no query has the Id "+id+".")
	}
	if m.series[i] == nil {
		if err := m.evaluate(i); err != nil {
			return operand{}, err
		}
	}
	return timeSeries(m.series[i]), nil
}

var arithmetic = map[string]func(a, b float64) float64{
	"+": func(a, b float64) float64 { return a + b },
	"-": func(a, b float64) float64 { return a - b },
	"*": func(a, b float64) float64 { return a * b },
	"/": func(a, b float64) float64 { return a / b },
}

// binary applies an operator to numbers, to values of the same time, and to each series of an array.
func (m *metricMath) binary(text, op string, left, right ast.Expr) (operand, error) {
	of := arithmetic[op]
	if of == nil {
		return operand{}, mathFault(text, "the operator "+op+" is not supported.")
	}
	a, err := m.value(text, left)
	if err != nil {
		return operand{}, err
	}
	b, err := m.value(text, right)
	switch {
	case err != nil:
		return operand{}, err
	case a.scalar != nil && b.scalar != nil:
		return number(of(*a.scalar, *b.scalar)), nil
	case a.several && b.several:
		return operand{}, mathFault(text, "two arrays cannot be operands of "+op+".")
	}
	out := operand{several: a.several || b.several}
	for i := range max(len(a.series), len(b.series)) {
		p, err := m.combine(text, of, a.at(i), b.at(i))
		if err != nil {
			return operand{}, err
		}
		out.series = append(out.series, p)
	}
	return out, nil
}

// at returns the counterpart of element i of an array.
func (o operand) at(i int) operand {
	if o.several {
		return timeSeries(o.series[i])
	}
	return o
}

// combine applies of at each time that both have. Results that are not numbers, as after a division by zero, are omitted.
func (m *metricMath) combine(text string, of func(a, b float64) float64, a, b operand) (points, error) {
	over := a
	if a.scalar != nil {
		over = b
	}
	if err := m.spend(text, over.series[0]); err != nil {
		return nil, err
	}
	out := points{}
	for at := range over.series[0] {
		x, first := a.valueAt(at)
		y, second := b.valueAt(at)
		if v := of(x, y); first && second && !math.IsNaN(v) && !math.IsInf(v, 0) {
			out[at] = v
		}
	}
	return out, nil
}

func (o operand) valueAt(at int64) (float64, bool) {
	if o.scalar != nil {
		return *o.scalar, true
	}
	v, ok := o.series[0][at]
	return v, ok
}

func (m *metricMath) spend(text string, p points) error {
	if m.budget -= len(p) + 1; m.budget < 0 {
		return mathFault(text, "the expressions of the request look at too many values.")
	}
	return nil
}

// aggregates are functions that return a number for a time series, and a time series for an array.
var aggregates = map[string]func(values []float64) float64{
	"AVG": func(values []float64) float64 { return total(values) / float64(len(values)) },
	"MAX": slices.Max[[]float64],
	"MIN": slices.Min[[]float64],
	"SUM": total,
}

func total(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum
}

func functionNames() []string {
	names := []string{"FILL", "METRICS", "PERIOD"}
	for name := range aggregates {
		names = append(names, name)
	}
	return slices.Sorted(slices.Values(names))
}

func (m *metricMath) call(text, name string, args []ast.Expr) (operand, error) {
	if name == "METRICS" && len(args) == 0 {
		return m.metrics(), nil
	}
	of := aggregates[name]
	switch {
	case of != nil && len(args) == 1:
		arg, err := m.value(text, args[0])
		if err != nil {
			return operand{}, err
		}
		return m.aggregate(text, of, arg)
	case name == "PERIOD" && len(args) == 1:
		return m.period(text, args[0])
	case name == "FILL" && len(args) == 2:
		return m.fill(text, args[0], args[1])
	}
	return operand{}, mathFault(text, "the function "+name+" is not supported with these arguments.")
}

// metrics returns all metrics of the request, without expressions.
func (m *metricMath) metrics() operand {
	var all []points
	for i, q := range m.queries {
		if q.MetricStat != nil {
			all = append(all, m.series[i])
		}
	}
	return array(all)
}

func (m *metricMath) aggregate(text string, of func([]float64) float64, arg operand) (operand, error) {
	if arg.scalar != nil {
		return operand{}, mathFault(text, "a number has no values to aggregate.")
	}
	byTime := map[int64][]float64{}
	for _, p := range arg.series {
		if err := m.spend(text, p); err != nil {
			return operand{}, err
		}
		for at, v := range p {
			if !arg.several {
				at = 0
			}
			byTime[at] = append(byTime[at], v)
		}
	}
	out := points{}
	for at, values := range byTime {
		slices.Sort(values) // for reproducible sums
		out[at] = of(values)
	}
	if arg.several {
		return timeSeries(out), nil
	}
	if len(byTime) == 0 {
		return number(math.NaN()), nil
	}
	return number(out[0]), nil
}

// period returns the period of a metric, in seconds.
func (m *metricMath) period(text string, arg ast.Expr) (operand, error) {
	if id, ok := arg.(*ast.Ident); ok {
		for _, q := range m.queries {
			if q.ID == id.Name && q.MetricStat != nil {
				return number(float64(*q.MetricStat.Period)), nil
			}
		}
	}
	return operand{}, mathFault(text, "PERIOD needs the Id of a metric.")
}

// fill sets a series' value at the times at which only other metrics of the request have one.
func (m *metricMath) fill(text string, of, with ast.Expr) (operand, error) {
	arg, err := m.value(text, of)
	if err != nil {
		return operand{}, err
	}
	value, err := m.value(text, with)
	switch {
	case err != nil:
		return operand{}, err
	case arg.scalar != nil || value.scalar == nil:
		return operand{}, mathFault(text, "FILL needs a time series and a number.")
	}
	out := operand{several: arg.several}
	for _, p := range arg.series {
		filled := points{}
		for _, metric := range m.metrics().series {
			if err := m.spend(text, metric); err != nil {
				return operand{}, err
			}
			for at := range metric {
				v, ok := p[at]
				if !ok {
					v = *value.scalar
				}
				filled[at] = v
			}
		}
		out.series = append(out.series, filled)
	}
	return out, nil
}

// label returns a query's label in the response.
func (q *metricDataQuery) label() string {
	switch {
	case q.Label != nil:
		return *q.Label
	case q.MetricStat != nil:
		return q.MetricStat.Metric.MetricName
	default:
		return cmp.Or(q.ID, q.Expression)
	}
}
