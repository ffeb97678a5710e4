package shop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/test/generated/shop"
)

// order is what a customer wants, as the tests ask for it.
var order = shop.PlaceOrderInput{
	RequestKey: "key-1", OrderID: "01HM0000000000000000000001", UserID: "u-1",
	Lines: []shop.PlaceOrderLine{{ProductID: "beans", Quantity: 2, Subtotal: 1800}},
}

// Example is the one of docs/generate.md, whose fences of Go are lines of this file.
func Example() {
	if err := run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// true Register: shop: user email is taken: already exists
	// 1800 open 1
	// true true
	// there are 1 of line 0 <nil>
	// write 1 of the transaction is PlaceOrder, line 1: shop: out of stock
	// bea@mail.com
	// true
	// 1 true
	// 1800
}

func run(ctx context.Context) error {
	server, err := monotable.OpenMemory(nil)
	if err != nil {
		return err
	}
	defer server.Close()
	client := server.Client() // on AWS: dynamodb.NewFromConfig(config)

	config := shop.Config{Table: "shop-dev", CursorKey: []byte("a secret of at least 32 bytes: ..")}
	for _, in := range shop.CreateTables(config) {
		if _, err := client.CreateTable(ctx, in); err != nil {
			return err
		}
	}
	db, err := shop.New(client, config)
	if err != nil {
		return err
	}

	beans := shop.Product{ProductID: "beans", Price: 900, Stock: 3}
	if err := db.Load(ctx, slices.Values([]table.Record{beans.Record()}), nil); err != nil {
		return err
	}

	if _, err := db.Register(ctx, shop.RegisterInput{UserID: "u-1", Email: "Ana@mail.com"}); err != nil {
		return err
	}
	_, err = db.Register(ctx, shop.RegisterInput{UserID: "u-2", Email: "ana@mail.com"})
	fmt.Println(errors.Is(err, shop.ErrUserEmailTaken), err)

	placed, err := db.PlaceOrder(ctx, order)
	if err != nil {
		return err
	}
	fmt.Println(placed.Order.Total, placed.Order.Status, len(placed.OrderItem))

	again, err := db.PlaceOrder(ctx, order)
	if err != nil {
		return err
	}
	fmt.Println(again.Order.CreatedAt.Equal(placed.Order.CreatedAt), again.Replayed)

	order.RequestKey, order.OrderID = "key-2", "01HM0000000000000000000002"
	_, err = db.PlaceOrder(ctx, order)
	if refusal, ok := errors.AsType[*table.Refusal](err); errors.Is(err, shop.ErrOutOfStock) && ok {
		old, _, err := shop.Decode(refusal.Old)
		fmt.Println("there are", old.(shop.Product).Stock, "of line", refusal.Line, err)
	}

	customer := db.Op.Register(shop.RegisterInput{UserID: "u-3", Email: "bea@mail.com"})
	order.UserID = "u-3"
	err = db.Tx(ctx, customer, db.Op.PlaceOrder(order))
	if fault, ok := errors.AsType[*table.TxError](err); errors.Is(err, shop.ErrOutOfStock) && ok {
		fmt.Println("write", fault.Write, "of the transaction is", err)
	}

	order.Lines[0].Quantity = 1
	if err := db.Tx(ctx, customer, db.Op.PlaceOrder(order)); err != nil {
		return err
	}
	fmt.Println(customer.Result.User.Email)

	_, err = db.OrderWithItems(ctx, shop.OrderWithItemsInput{OrderID: placed.Order.OrderID, UserID: "u-2"})
	fmt.Println(errors.Is(err, table.ErrNotFound))

	since := time.Now().Add(-time.Hour)
	page, err := db.OrdersOf(ctx, shop.OrdersOfInput{UserID: "u-1", CreatedAtFrom: &since}, table.PageOptions{Limit: 10})
	if err != nil {
		return err
	}
	fmt.Println(len(page.Items), page.Next == "")
	for order, err := range db.OrdersOfAll(ctx, shop.OrdersOfInput{UserID: "u-1"}) {
		if err != nil {
			return err
		}
		fmt.Println(order.Total)
	}
	return nil
}
