package catfecito

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

const (
	// cartLines is the maximum number of lines in a cart, which all fit into one transaction.
	cartLines = 32
	// linePieces is the maximum quantity of a line.
	linePieces = 99
	// cartLife is how long a line lasts after its last change.
	cartLife = 30 * 24 * time.Hour
)

var (
	errCartFull  = errors.New("a cart has at most 32 products: remove one first")
	errCartEmpty = errors.New("the cart is empty")
)

// line is a line of a cart with the current product; nil if it no longer exists.
type line struct {
	catfecitodb.CartItem
	product *catfecitodb.Product
}

// available reports whether the line can be ordered now.
func (l line) available() bool {
	return l.product != nil && l.product.IsActive && l.product.Stock >= l.Quantity
}

// subtotal is the line's current price.
func (l line) subtotal() int64 {
	if l.product == nil {
		return 0
	}
	return l.product.Price * l.Quantity
}

// cart returns a user's cart with current products, in one Query and one batch.
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

// ownCart returns the caller's cart.
func (s *service) ownCart(ctx context.Context, who auth.Principal, _ api.None) (Cart, error) {
	lines, err := s.cart(ctx, who.Sub)
	return cartOf(lines), err
}

// add adds a quantity of a product to a cart, once per request key.
func (s *service) add(ctx context.Context, who auth.Principal, in api.KeyedBody[CartItemInput]) (added Pieces, replayed bool, err error) {
	added = Pieces(in.Body)
	if full := s.room(ctx, who.Sub, added.ProductID); full != nil {
		// A retry gets the first response, whatever the cart contains now.
		if known, err := s.asked(ctx, who.Sub, catfecitodb.OperationAddToCart, in.RequestKey); !known {
			return added, false, cmp.Or(err, full)
		}
	}
	err = s.changeLine(ctx, who.Sub, added.ProductID, func() error {
		result, err := s.db.AddToCart(ctx, catfecitodb.AddToCartInput{
			RequestKey: in.RequestKey, Operation: catfecitodb.OperationAddToCart, UserID: who.Sub, ProductID: added.ProductID,
			Quantity: added.Quantity, Most: linePieces - added.Quantity, LineExpiresAt: s.now().Add(cartLife),
		})
		replayed = result.Replayed
		return err
	})
	return added, replayed, err
}

// set sets a line's quantity.
func (s *service) set(ctx context.Context, who auth.Principal, in setItem) (Pieces, error) {
	if err := s.room(ctx, who.Sub, in.ProductID); err != nil {
		return Pieces{}, err
	}
	return Pieces{in.ProductID, in.Body.Quantity}, s.changeLine(ctx, who.Sub, in.ProductID, func() error {
		_, err := s.db.SetCartQuantity(ctx, catfecitodb.SetCartQuantityInput{
			UserID: who.Sub, ProductID: in.ProductID, Quantity: in.Body.Quantity, LineExpiresAt: s.now().Add(cartLife),
		})
		return err
	})
}

// changeLine changes a line. If the line has expired, it first deletes it, as DynamoDB will eventually do, and retries.
func (s *service) changeLine(ctx context.Context, userID, productID string, change func() error) error {
	err := change()
	if !errors.Is(err, catfecitodb.ErrCartLineExpired) {
		return err
	}
	err = s.db.DropExpiredLine(ctx, catfecitodb.DropExpiredLineInput{UserID: userID, ProductID: productID})
	if err != nil && !errors.Is(err, catfecitodb.ErrCartLineTouched) { // a concurrent request was faster
		return err
	}
	return change()
}

// room rejects a new line if the cart is full. Concurrent additions can exceed the limit; a checkout then rejects the cart.
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

// asked reports whether a request is a retry.
func (s *service) asked(ctx context.Context, userID string, what catfecitodb.Operation, requestKey string) (bool, error) {
	_, err := s.db.RequestByKey(ctx, catfecitodb.RequestByKeyInput{UserID: userID, Operation: what, RequestKey: requestKey})
	if errors.Is(err, table.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
