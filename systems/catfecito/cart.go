package catfecito

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
)

const (
	// cartLines is how many lines a cart may have, which is as many as one transaction can make an order of.
	cartLines = 32
	// linePieces is how many pieces a line may have.
	linePieces = 99
	// cartLife is how long a line stays after it was last touched.
	cartLife = 30 * 24 * time.Hour
)

var (
	errCartFull  = errors.New("a cart has at most 32 products: remove one first")
	errCartEmpty = errors.New("there is nothing in the cart")
)

// line is a line of a cart with the product as it is now; nil where there is none any more.
type line struct {
	catfecitodb.CartItem
	product *catfecitodb.Product
}

// available tells whether the line can be ordered now.
func (l line) available() bool {
	return l.product != nil && l.product.IsActive && l.product.Stock >= l.Quantity
}

// subtotal is what the line costs now.
func (l line) subtotal() int64 {
	if l.product == nil {
		return 0
	}
	return l.product.Price * l.Quantity
}

// cart is a user's cart with the products as they are now, in one Query and one batch.
func (s *service) cart(ctx context.Context, userID string) ([]line, error) {
	var lines []line
	var wanted []catfecitodb.ProductByIDInput
	for item, err := range s.db.CartAll(ctx, catfecitodb.CartInput{UserID: userID}) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, line{CartItem: item})
		wanted = append(wanted, catfecitodb.ProductByIDInput{ProductID: item.ProductID})
	}
	if len(lines) == 0 {
		return nil, nil
	}
	products, err := s.db.ProductByIDBatch(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for i := range lines {
		lines[i].product = products[i]
	}
	return lines, nil
}

// add puts so many more into a cart, once for each request key.
func (s *service) add(ctx context.Context, userID, requestKey, productID string, quantity int64) (replayed bool, err error) {
	if full := s.room(ctx, userID, productID); full != nil {
		// A request that was made before is answered as it was then, however the cart is now.
		if known, err := s.asked(ctx, userID, catfecitodb.OperationAddToCart, requestKey); !known {
			return false, cmp.Or(err, full)
		}
	}
	err = s.anew(ctx, userID, productID, func() error {
		result, err := s.db.AddToCart(ctx, catfecitodb.AddToCartInput{
			RequestKey: requestKey, Operation: catfecitodb.OperationAddToCart, UserID: userID, ProductID: productID,
			Quantity: quantity, Most: linePieces - quantity, LineExpiresAt: s.now().Add(cartLife),
		})
		replayed = result.Replayed
		return err
	})
	return replayed, err
}

// set makes a line have so many, whatever it had.
func (s *service) set(ctx context.Context, userID, productID string, quantity int64) error {
	if err := s.room(ctx, userID, productID); err != nil {
		return err
	}
	return s.anew(ctx, userID, productID, func() error {
		_, err := s.db.SetCartQuantity(ctx, catfecitodb.SetCartQuantityInput{
			UserID: userID, ProductID: productID, Quantity: quantity, LineExpiresAt: s.now().Add(cartLife),
		})
		return err
	})
}

// anew changes a line, again where there was one whose time is over: then it is removed first, as DynamoDB will within days.
func (s *service) anew(ctx context.Context, userID, productID string, change func() error) error {
	err := change()
	if !errors.Is(err, catfecitodb.ErrCartLineExpired) {
		return err
	}
	err = s.db.DropExpiredLine(ctx, catfecitodb.DropExpiredLineInput{UserID: userID, ProductID: productID})
	if err != nil && !errors.Is(err, catfecitodb.ErrCartLineTouched) { // somebody was faster
		return err
	}
	return change()
}

// room refuses a new line for a cart that is full. Lines that are added at once may pass together; a checkout refuses what
// has become too long.
func (s *service) room(ctx context.Context, userID, productID string) error {
	lines := 0
	for item, err := range s.db.CartAll(ctx, catfecitodb.CartInput{UserID: userID}) {
		if err != nil {
			return err
		}
		if item.ProductID == productID {
			return nil
		}
		lines++
	}
	if lines >= cartLines {
		return errCartFull
	}
	return nil
}

// asked tells whether a request was made before.
func (s *service) asked(ctx context.Context, userID string, what catfecitodb.Operation, requestKey string) (bool, error) {
	_, err := s.db.RequestByKey(ctx, catfecitodb.RequestByKeyInput{UserID: userID, Operation: what, RequestKey: requestKey})
	if errors.Is(err, table.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// remove takes a product out of a cart; one that is not in it is as good.
func (s *service) remove(ctx context.Context, userID, productID string) error {
	return s.db.RemoveFromCart(ctx, catfecitodb.RemoveFromCartInput{UserID: userID, ProductID: productID})
}
