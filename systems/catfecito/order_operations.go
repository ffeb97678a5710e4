package catfecito

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

type cartOutput struct{ Body Cart }

func (s *service) getCart(ctx context.Context, _ *struct{}) (*cartOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	lines, err := s.cart(ctx, who.Sub)
	return &cartOutput{cartOf(lines)}, err
}

type postCartItemInput struct {
	api.IdempotencyKey
	Body struct {
		ProductID string `json:"productId" pattern:"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" patternDescription:"a uuid in small letters" doc:"The product's id"`
		Quantity  int64  `json:"quantity" minimum:"1" maximum:"99" doc:"How many more"`
	}
}

func (s *service) postCartItem(ctx context.Context, in *postCartItemInput) (*piecesOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	replayed, err := s.add(ctx, who.Sub, in.IdempotencyKey.IdempotencyKey, in.Body.ProductID, in.Body.Quantity)
	if err != nil {
		return nil, err
	}
	return &piecesOutput{Status: api.CreatedStatus(replayed), Body: Pieces{in.Body.ProductID, in.Body.Quantity}}, nil
}

type putCartItemInput struct {
	ProductPath
	Body struct {
		Quantity int64 `json:"quantity" minimum:"1" maximum:"99" doc:"How many"`
	}
}

type setCartItemOutput struct{ Body Pieces }

func (s *service) putCartItem(ctx context.Context, in *putCartItemInput) (*setCartItemOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	err = s.set(ctx, who.Sub, in.ProductID, in.Body.Quantity)
	return &setCartItemOutput{Pieces{in.ProductID, in.Body.Quantity}}, err
}

func (s *service) deleteCartItem(ctx context.Context, in *ProductPath) (*struct{}, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	return nil, s.remove(ctx, who.Sub, in.ProductID)
}

// OrderPath leads to an order.
type OrderPath struct {
	OrderID string `path:"orderId" pattern:"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" patternDescription:"a uuid in small letters" doc:"The order's id"`
}

type orderOutput struct{ Body Order }

type wholeOrderOutput struct{ Body WholeOrder }

type postOrderInput struct {
	api.IdempotencyKey
	Body struct {
		Total Money `json:"total" doc:"The cart's total that you agree to"`
	}
}

type postOrderOutput struct {
	Status   int
	Location string `header:"Location" doc:"Where the order is"`
	Body     WholeOrder
}

func (s *service) postOrder(ctx context.Context, in *postOrderInput) (*postOrderOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	o, replayed, err := s.checkout(ctx, who.Sub, in.IdempotencyKey.IdempotencyKey, in.Body.Total)
	if err != nil {
		return nil, err
	}
	return &postOrderOutput{Status: api.CreatedStatus(replayed), Location: "orders/" + o.OrderID, Body: wholeOrderOf(o)}, nil
}

func (s *service) listOrders(ctx context.Context, in *struct{ api.PageQuery }) (*api.PageOutput[Order], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	page, err := s.orders(ctx, who.Sub, in.Options())
	return api.PageOf(page, orderOf), err
}

func (s *service) getOrder(ctx context.Context, in *OrderPath) (*wholeOrderOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	o, err := s.order(ctx, who, in.OrderID)
	return &wholeOrderOutput{wholeOrderOf(o)}, err
}

type keyedOrderInput struct {
	api.IdempotencyKey
	OrderPath
}

type beginPaymentOutput struct {
	Body struct {
		URL string `json:"url" format:"uri-reference" doc:"The page at which you pay; relative to the API's address, or absolute"`
	}
}

func (s *service) postPayment(ctx context.Context, in *OrderPath) (*beginPaymentOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	out := &beginPaymentOutput{}
	out.Body.URL, err = s.beginPayment(ctx, who.Sub, in.OrderID)
	return out, err
}

// paymentEventInput is the request of a webhook as it came: a signature is of its bytes.
type paymentEventInput struct {
	RawBody []byte `contentType:"application/json"`
	header  http.Header
}

// Resolve keeps the headers: which of them sign, the provider knows.
func (in *paymentEventInput) Resolve(ctx huma.Context) []error {
	in.header = http.Header{}
	ctx.EachHeader(in.header.Add)
	return nil
}

type paymentEventOutput struct {
	Body struct {
		Outcome string `json:"outcome" enum:"applied,refunded,ignored" doc:"Whether the order is paid, the payment is given back, or nothing was to be done"`
	}
}

func (s *service) postPaymentEvent(ctx context.Context, in *paymentEventInput) (*paymentEventOutput, error) {
	out := &paymentEventOutput{}
	var err error
	out.Body.Outcome, err = s.paymentEvent(ctx, in.header, in.RawBody)
	return out, err
}

func (s *service) payOrder(ctx context.Context, in *keyedOrderInput) (*orderOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	o, err := s.payCash(ctx, who.Sub, in.IdempotencyKey.IdempotencyKey, in.OrderID)
	return &orderOutput{orderOf(o)}, err
}

func (s *service) cancelOrder(ctx context.Context, in *keyedOrderInput) (*orderOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	o, err := s.cancel(ctx, who, in.IdempotencyKey.IdempotencyKey, in.OrderID)
	return &orderOutput{orderOf(o)}, err
}

func (s *service) shipOrder(ctx context.Context, in *OrderPath) (*orderOutput, error) {
	o, err := s.ship(ctx, in.OrderID)
	return &orderOutput{orderOf(o)}, err
}

func (s *service) deliverOrder(ctx context.Context, in *OrderPath) (*orderOutput, error) {
	o, err := s.deliver(ctx, in.OrderID)
	return &orderOutput{orderOf(o)}, err
}
