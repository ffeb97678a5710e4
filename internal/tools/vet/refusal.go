package vet

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// conditionFailed is the error code of PutItem, UpdateItem and DeleteItem if their condition does not hold. A
// transaction never returns it.
const conditionFailed = "ConditionalCheckFailedException"

// origin is where an error comes from.
type origin uint8

const (
	unknown origin = iota
	nothing        // nil
	transaction
	generated // a function of a generated package, whose writes return the errors that the package declares
)

// refusals reports errors of transactions and generated packages that are compared with conditionFailed. It traces a
// value to its origin within its function, and reports it if every possible origin is one of these.
func (v *vetter) refusals(pass *analysis.Pass, report func(at token.Pos, format string, args ...any)) {
	if !slices.ContainsFunc(pass.Pkg.Imports(), func(p *types.Package) bool { return p.Path() == sdk || v.generated[p.Path()] }) {
		return
	}
	program := ssa.NewProgram(pass.Fset, 0)
	known := map[*types.Package]bool{}
	var declare func([]*types.Package)
	declare = func(list []*types.Package) {
		for _, p := range list {
			if !known[p] {
				known[p] = true
				program.CreatePackage(p, nil, nil, true)
				declare(p.Imports())
			}
		}
	}
	declare(pass.Pkg.Imports())
	program.CreatePackage(pass.Pkg, pass.Files, pass.TypesInfo, false).Build()
	r := &refusals{vetter: v, report: report}
	for _, f := range pass.Files {
		for _, d := range f.Decls {
			if declared, is := d.(*ast.FuncDecl); is {
				if o, is := pass.TypesInfo.Defs[declared.Name].(*types.Func); is {
					r.function(program.FuncValue(o))
				}
			}
		}
	}
}

type refusals struct {
	*vetter

	report func(at token.Pos, format string, args ...any)
}

func (r *refusals) function(f *ssa.Function) {
	if f == nil {
		return
	}
	for _, inner := range f.AnonFuncs {
		r.function(inner)
	}
	for _, b := range f.Blocks {
		for _, i := range b.Instrs {
			switch i := i.(type) {
			case *ssa.TypeAssert:
				if isConditionFailed(i.AssertedType) {
					r.compared(i.X, i.Pos())
				}
			case *ssa.Call:
				r.call(i)
			}
		}
	}
}

// call checks calls of errors.As and errors.AsType, with the exception or with an error that has a code.
func (r *refusals) call(c *ssa.Call) {
	f := c.Call.StaticCallee()
	if f == nil {
		return
	}
	if generic := f.Origin(); generic != nil && generic.Name() == "AsType" && packageOf(generic) == "errors" {
		of := f.TypeArgs()[0]
		if isConditionFailed(of) {
			r.compared(c.Call.Args[0], c.Pos())
			return
		}
		for _, use := range *c.Referrers() {
			if e, is := use.(*ssa.Extract); is && e.Index == 0 {
				r.codes(e, c.Call.Args[0])
			}
		}
	}
	if f.Name() != "As" || packageOf(f) != "errors" {
		return
	}
	target := c.Call.Args[1]
	if m, is := target.(*ssa.MakeInterface); is {
		target = m.X
	}
	p, is := target.Type().(*types.Pointer)
	switch {
	case !is:
	case isConditionFailed(p.Elem()):
		r.compared(c.Call.Args[0], c.Pos())
	case target.Referrers() != nil:
		for _, use := range *target.Referrers() {
			if load, is := use.(*ssa.UnOp); is && load.Op == token.MUL {
				r.codes(load, c.Call.Args[0])
			}
		}
	}
}

// codes checks the values with which the code of an error is compared.
func (r *refusals) codes(v, err ssa.Value) {
	for _, use := range *v.Referrers() {
		c, is := use.(*ssa.Call)
		if !is || !c.Call.IsInvoke() || c.Call.Method.Name() != "ErrorCode" {
			continue
		}
		for _, use := range *c.Referrers() {
			compared, is := use.(*ssa.BinOp)
			if !is {
				continue
			}
			for _, with := range []ssa.Value{compared.X, compared.Y} {
				if k, is := with.(*ssa.Const); is && k.Value != nil && k.Value.Kind() == constant.String && constant.StringVal(k.Value) == conditionFailed {
					r.compared(err, compared.Pos())
				}
			}
		}
	}
}

func (r *refusals) compared(err ssa.Value, at token.Pos) {
	switch r.origin(err, map[ssa.Value]bool{}) {
	case transaction:
		r.report(at, "a transaction never returns %s: it returns a TransactionCanceledException, with a reason for each action", conditionFailed)
	case generated:
		r.report(at, "a generated package never returns %s: compare with the errors that it declares, or with *table.Refusal", conditionFailed)
	case unknown, nothing:
	}
}

// origin is the common origin of everything a value can be; unknown if there is none.
func (r *refusals) origin(v ssa.Value, seen map[ssa.Value]bool) origin {
	if seen[v] {
		return nothing // a cycle in a loop
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Const:
		if v.IsNil() {
			return nothing
		}
	case *ssa.Call:
		return r.originOf(&v.Call)
	case *ssa.Extract:
		if c, is := v.Tuple.(*ssa.Call); is && v.Index == c.Call.Signature().Results().Len()-1 {
			return r.originOf(&c.Call)
		}
	case *ssa.Phi:
		return r.common(v.Edges, seen)
	case *ssa.UnOp:
		if slot, is := v.X.(*ssa.Alloc); is && v.Op == token.MUL {
			return r.stored(slot, seen)
		}
	}
	return unknown
}

// common is the common origin of several values.
func (r *refusals) common(values []ssa.Value, seen map[ssa.Value]bool) origin {
	out := nothing
	for _, v := range values {
		switch of := r.origin(v, seen); {
		case of == nothing:
		case out == nothing:
			out = of
		case of != out:
			return unknown
		}
	}
	return out
}

// stored is the origin of the content of a variable that nothing else can reach.
func (r *refusals) stored(slot *ssa.Alloc, seen map[ssa.Value]bool) origin {
	var values []ssa.Value
	for _, use := range *slot.Referrers() {
		switch use := use.(type) {
		case *ssa.Store:
			if use.Addr != slot {
				return unknown
			}
			values = append(values, use.Val)
		case *ssa.UnOp, *ssa.DebugRef:
		default:
			return unknown
		}
	}
	return r.common(values, seen)
}

// originOf is the origin of a call's error.
func (r *refusals) originOf(c *ssa.CallCommon) origin {
	results := c.Signature().Results()
	if results.Len() == 2 {
		switch sdkName(results.At(0).Type()) {
		case "TransactWriteItemsOutput", "ExecuteTransactionOutput":
			return transaction
		}
	}
	if f := c.StaticCallee(); f != nil && r.generated[packageOf(f)] {
		return generated
	}
	return unknown
}

func packageOf(f *ssa.Function) string {
	if f.Object() == nil || f.Object().Pkg() == nil {
		return ""
	}
	return f.Object().Pkg().Path()
}

func isConditionFailed(of types.Type) bool {
	_, pointer := types.Unalias(of).(*types.Pointer)
	return pointer && sdkName(of) == conditionFailed
}
