package languages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// asked is a write with its input.
type asked struct {
	write *table.Write
	input table.Input
}

// transactions is the number of transactions of several writes at the end of a world.
func transactions() int {
	if *everything {
		return 25
	}
	return 6
}

// composeAll composes writes that the trial has made, on the initial items: those of one transaction may overlap, fail, or
// repeat an earlier one.
func (m *mirror) composeAll(ctx context.Context) error {
	if len(m.written) == 0 {
		return nil
	}
	has, err := m.theirs(ctx)
	if err == nil {
		err = replace(ctx, m.under.Client.(sdkOwner).SDK(), texts(has), m.began)
	}
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(m.written)))) //nolint:gosec // reproducible
	var last []asked
	for range transactions() {
		var writes []asked
		for range 1 + rng.IntN(3) {
			writes = append(writes, m.written[rng.IntN(len(m.written))])
		}
		if again := rng.IntN(4) == 0; again && last != nil {
			writes = slices.Clone(last)
			rng.Shuffle(len(writes), func(i, j int) { writes[i], writes[j] = writes[j], writes[i] })
		}
		last = writes
		if err := m.compose(ctx, writes...); err != nil {
			return err
		}
	}
	return nil
}

// compose runs writes in one transaction, with both.
func (m *mirror) compose(ctx context.Context, writes ...asked) error {
	if err := m.follow(ctx); err != nil {
		return err
	}
	m.firstID += 1000
	m.id = m.firstID
	call := "tx of"
	var ops []table.TxWrite
	var given []any
	for _, a := range writes {
		call += describe("", a.write.Pattern, a.input)
		given = append(given, map[string]any{"pattern": a.write.Pattern, "input": jsonInput(a.input)})
		ops = append(ops, table.NewOp(m.db, a.write, a.input, func(_ context.Context, _ table.Input, out table.Outcome) (table.Outcome, error) { return out, nil }))
	}
	err := m.db.Tx(ctx, ops...)
	var got []outcome
	failed, ended := m.call("tx", map[string]any{"writes": given, "firstID": m.firstID}, &got)
	if ended != nil {
		return ended
	}
	if err == nil && failed != nil && slices.Contains(failed.Codes, "NotFound") {
		return m.sameTables(ctx, call) // the design's replay finds nothing, which package table does not ask for
	}
	m.ending = err
	m.composed[composedAs(len(writes), ops[0].(*table.Op[table.Outcome]).Replayed, err)]++
	refused, different := m.sameError(call, failed, err)
	if different := cmp.Or(different, m.sameTables(ctx, call)); different != nil || refused {
		if own, ok := errors.AsType[*table.TxError](err); ok && different == nil && len(failed.Codes) > 0 && (failed.TxWrite == nil || *failed.TxWrite != own.Write) {
			return differs(call+", the write at fault", failed.TxWrite, own.Write)
		}
		return different
	}
	for i := range writes {
		op := ops[i].(*table.Op[table.Outcome])
		want := op.Result
		want.Replayed = op.Replayed
		if err := got[i].same(call, want); err != nil {
			return err
		}
	}
	return nil
}

// composedAs is the result of a transaction, for the log, which shows whether the trials cover it.
func composedAs(writes int, replayed bool, err error) string {
	switch {
	case errors.Is(err, table.ErrOverlap):
		return "overlap"
	case err != nil:
		return "refused"
	case replayed:
		return "repeated"
	case writes == 1:
		return "of one"
	default:
		return "done"
	}
}

// tx runs writes in one transaction; want is part of its error, "" for none.
func (s *script) tx(want string, writes ...asked) {
	s.t.Helper()
	err := s.compose(s.ctx, writes...)
	s.ended("", "tx", err) // anything else is a difference
	if got := s.ending; (got == nil) != (want == "") || got != nil && !strings.Contains(got.Error(), want) {
		s.t.Errorf("a tx ends in %v, want %s", got, want)
	}
}

// ask is a write with its input.
func (s *script) ask(name string, in table.Input) asked {
	i := slices.IndexFunc(s.program.Writes, func(w *lower.Write) bool { return w.Design.Name == name })
	return asked{s.program.Writes[i].Run, in}
}

// orders: transactions of several writes.
func orders(s *script) {
	const stock = 100
	client := s.under.Client.(sdkClient)
	for i := range 60 {
		product := table.Item{
			"PK": textValue(fmt.Sprint("PRODUCT#", i)), "SK": textValue("PRODUCT"), "type": textValue("Product"), "productId": textValue(fmt.Sprint(i)),
			"price": storedValue(5), "stock": storedValue(stock),
		}
		if _, err := client.PutItem(s.ctx, &dynamodb.PutItemInput{TableName: aws.String("shop-test"), Item: product}); err != nil {
			s.t.Fatal(err)
		}
	}
	order := func(key string, number, quantity int, products ...int) asked {
		in := given("requestKey", key, "userId", "ann", "orderId", fmt.Sprintf("%026d", number))
		for _, p := range products {
			in.Lines = append(in.Lines, given("productId", fmt.Sprint(p), "quantity", quantity, "subtotal", 5).Values)
		}
		return s.ask("PlaceOrder", in)
	}
	user := func(name, email string) asked { return s.ask("Register", given("userId", name, "email", email)) }

	s.tx("", user("ann", "ann@example.com"), user("bo", "bo@example.com"))
	s.tx("user email is taken", user("cy", "cy@example.com"), user("di", "BO@example.com"))
	s.tx("email is not", user("cy", "cy@example.com"), user("di", "no address"))
	s.tx("writes touch the same item: Register (put of marker Email of User) and Register (put of marker Email of User) touch item", user("cy", "cy@example.com"), user("di", "CY@example.com"))
	s.tx("Register (User) and Register (User) touch item", user("cy", "cy@example.com"), user("cy", "cy@example.com"))

	// Two idempotent writes form one request.
	both := []asked{order("k1", 1, 2, 1, 2), order("k2", 2, 3, 3)}
	s.tx("", both...)
	s.tx("", both[1], both[0]) // again, and in another order
	s.tx("request key was used with another request", both[0])
	s.tx("request key was used with another request", append(both, user("cy", "cy@example.com"))...)
	s.tx("PlaceOrder (Product) and", order("k3", 3, 1, 5), order("k4", 4, 1, 5))
	s.tx("PlaceOrder, line 1: out of stock", user("cy", "cy@example.com"), order("k3", 3, stock+1, 5, 6))

	// More items than a transaction holds.
	var one, other []int
	for i := range 30 {
		one, other = append(one, i), append(other, 30+i)
	}
	s.tx("the writes have 126 actions, but a transaction has at most 100: ", order("k3", 3, 1, one...), order("k4", 4, 1, other...))
	s.tx("", user("cy", "cy@example.com"), order("k3", 3, 1, one...))
}
