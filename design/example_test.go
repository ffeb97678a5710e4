package design_test

import (
	"errors"
	"fmt"

	"github.com/monotable/monotable/design"
)

const shop = `design: 1
name: Shop
tables: { Shop: { key: { pk: PK, sk: SK } } }
entities:
  Order:
    key: { pk: "USER#{userId}", sk: "ORDER#{orderId}" }
    fields: { userId: id, orderId: ulid, total: money }
reads:
  OrdersOf: { many: Order, by: [userId], order: [orderId desc] }
`

func ExampleParse() {
	d, err := design.Parse("shop.design.yaml", []byte(shop))
	if err != nil {
		fmt.Println(err)
		return
	}
	order := d.Entity("Order")
	fmt.Println(order.Key.SK, order.Key.SK.Fields(), order.Field("total").Type)
	// Output: ORDER#{orderId} [orderId] money
}

// All errors are reported at once, each with its position.
func ExampleErrors() {
	text := shop + "  Latest: { many: Ordr, by: [user] }\n  Both: { many: Order, by: [usrId] }\n"
	_, err := design.Parse("shop.design.yaml", []byte(text))
	if faults, ok := errors.AsType[design.Errors](err); ok {
		for _, fault := range faults {
			fmt.Println(fault)
			fmt.Println(fault.Excerpt())
		}
	}
	// Output:
	// shop.design.yaml:10:19: there is no entity "Ordr" (did you mean "Order"?)
	//   10 |   Latest: { many: Ordr, by: [user] }
	//                          ^
	// shop.design.yaml:11:29: Order has no field "usrId" (did you mean "userId"?)
	//   11 |   Both: { many: Order, by: [usrId] }
	//                                    ^
}

func ExampleFormat() {
	out, err := design.Format("shop.design.yaml", []byte("name:  'Shop'\ndesign: 1 # the version\ntables: {Shop: {key: {sk: SK, pk: PK}}}\n"))
	fmt.Print(string(out))
	fmt.Println(err)
	// Output:
	// design: 1  # the version
	// name: Shop
	//
	// tables:
	//   Shop:
	//     key: { pk: PK, sk: SK }
	// <nil>
}
