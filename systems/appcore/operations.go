package appcore

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

// register adds the operations to the API.
func (s *service) register(a huma.API) {
	huma.Register(a, huma.Operation{
		OperationID: "getProfile", Method: http.MethodGet, Path: "/me", Tags: []string{"Profile"},
		Summary: "Your profile",
	}, s.getProfile)
	huma.Register(a, huma.Operation{
		OperationID: "putProfile", Method: http.MethodPut, Path: "/me", Tags: []string{"Profile"},
		Summary: "Make or change your profile",
	}, s.putProfile)
	huma.Register(a, huma.Operation{
		OperationID: "listTransactions", Method: http.MethodGet, Path: "/transactions", Tags: []string{"Transactions"},
		Summary: "Your transactions, newest first",
	}, s.listTransactions)
	huma.Register(a, huma.Operation{
		OperationID: "createTransaction", Method: http.MethodPost, Path: "/transactions", Tags: []string{"Transactions"},
		Summary:       "Make a transaction",
		Description:   "It is PENDING until it is settled, which a notification tells of.",
		DefaultStatus: http.StatusCreated,
	}, s.createTransaction)
	huma.Register(a, huma.Operation{
		OperationID: "latestTransactions", Method: http.MethodGet, Path: "/transactions/global", Tags: []string{"Transactions"},
		Summary: "The last ten transactions of all users",
	}, s.latestTransactions)
	huma.Register(a, huma.Operation{
		OperationID: "getTransaction", Method: http.MethodGet, Path: "/transactions/{id}", Tags: []string{"Transactions"},
		Summary: "One of your transactions",
		Errors:  []int{http.StatusForbidden, http.StatusNotFound},
	}, s.getTransaction)
	huma.Register(a, huma.Operation{
		OperationID: "listNotifications", Method: http.MethodGet, Path: "/notifications", Tags: []string{"Notifications"},
		Summary: "Your notifications, newest first",
	}, s.listNotifications)
	huma.Register(a, huma.Operation{
		OperationID: "patchNotification", Method: http.MethodPatch, Path: "/notifications/{id}", Tags: []string{"Notifications"},
		Summary: "Mark a notification as read, or as not read",
		Errors:  []int{http.StatusNotFound},
	}, s.patchNotification)
}

type profileOutput struct{ Body Profile }

func (s *service) getProfile(ctx context.Context, _ *struct{}) (*profileOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	u, err := s.profile(ctx, who.Sub)
	return &profileOutput{profileOf(u)}, err
}

type putProfileInput struct {
	Body struct {
		Email string `json:"email" format:"email" maxLength:"254" doc:"Where you can be written to"`
		Name  string `json:"name" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]*[^\\x00-\\x20\\x7f][^\\x00-\\x1f\\x7f]*$" patternDescription:"a line that is not blank" doc:"What you are called"`
	}
}

func (s *service) putProfile(ctx context.Context, in *putProfileInput) (*profileOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	u, err := s.saveProfile(ctx, who.Sub, in.Body.Email, in.Body.Name)
	return &profileOutput{profileOf(u)}, err
}

type listTransactionsInput struct {
	api.PageQuery
	From string `query:"from" format:"date-time" doc:"The earliest time at which they were made"`
	To   string `query:"to" format:"date-time" doc:"The latest time at which they were made"`
}

// period is the one that the query says. The times are texts there, for the zero time.Time is one that may be asked for.
func (in *listTransactionsInput) period() (p period, err error) {
	if p.from, err = moment("query.from", in.From); err == nil {
		p.to, err = moment("query.to", in.To)
	}
	if err == nil && p.from != nil && p.to != nil && p.from.After(*p.to) {
		err = invalidPeriod("query.to", "is before from")
	}
	return p, err
}

// moment is a time of a query, nil for none.
func moment(field, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no bound is a valid answer
	}
	at, err := time.Parse(time.RFC3339, text)
	if at = at.UTC(); err != nil || at.Year() < 0 || at.Year() > lastYear {
		return nil, invalidPeriod(field, "is not a time of the years 0 to 9999, such as 2006-01-02T15:04:05Z")
	}
	return &at, nil
}

func invalidPeriod(field, message string) error {
	return problem.BadRequest(problem.CodeInvalidParameter, "the period is not valid", problem.Field{Field: field, Message: message})
}

func (s *service) listTransactions(ctx context.Context, in *listTransactionsInput) (*api.PageOutput[Transaction], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	made, err := in.period()
	if err != nil {
		return nil, err
	}
	page, err := s.transactions(ctx, who.Sub, made, in.Options())
	return api.PageOf(page, transactionOf), err
}

type createTransactionInput struct {
	api.IdempotencyKey
	Body struct {
		Amount   int64              `json:"amount" minimum:"1" maximum:"9007199254740991" doc:"How much, in the currency's smallest unit"`
		Currency appcoredb.Currency `json:"currency" enum:"ARS,BRL,USD" doc:"The currency"`
	}
}

type createTransactionOutput struct {
	Status   int
	Location string `header:"Location" doc:"Where the transaction is"`
	Body     Transaction
}

func (s *service) createTransaction(ctx context.Context, in *createTransactionInput) (*createTransactionOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	tx, replayed, err := s.create(ctx, who.Sub, in.IdempotencyKey.IdempotencyKey, in.Body.Amount, in.Body.Currency)
	if err != nil {
		return nil, err
	}
	return &createTransactionOutput{Status: api.CreatedStatus(replayed), Location: "transactions/" + tx.TxID, Body: transactionOf(tx)}, nil
}

type latestTransactionsOutput struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Items []LatestTransaction `json:"items" nullable:"false" doc:"At most ten, newest first"`
	}
}

func (s *service) latestTransactions(ctx context.Context, _ *struct{}) (*latestTransactionsOutput, error) {
	list, err := s.latest(ctx)
	if err != nil {
		return nil, err
	}
	out := &latestTransactionsOutput{CacheControl: "private, max-age=1"}
	out.Body.Items = make([]LatestTransaction, len(list))
	for i, tx := range list {
		out.Body.Items[i] = latestOf(tx)
	}
	return out, nil
}

type transactionInput struct {
	ID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"The transaction's txId"`
}

type transactionOutput struct{ Body Transaction }

func (s *service) getTransaction(ctx context.Context, in *transactionInput) (*transactionOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := s.transaction(ctx, who.Sub, in.ID)
	return &transactionOutput{transactionOf(tx)}, err
}

func (s *service) listNotifications(ctx context.Context, in *struct{ api.PageQuery }) (*api.PageOutput[Notification], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	page, err := s.notifications(ctx, who.Sub, in.Options())
	return api.PageOf(page, notificationOf), err
}

// noNotification is the detail of a 404.
const noNotification = "there is no such notification"

type patchNotificationInput struct {
	ID   string `path:"id" pattern:"^[A-Za-z0-9_-]{32}$" patternDescription:"a notification's notifId" doc:"The notification's notifId"`
	Body struct {
		Read bool `json:"read" doc:"Whether you have read it"`
	}
}

type notificationOutput struct{ Body Notification }

func (s *service) patchNotification(ctx context.Context, in *patchNotificationInput) (*notificationOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	ref, err := parseNotificationRef(in.ID)
	if err != nil {
		return nil, problem.NotFound("", noNotification)
	}
	n, err := s.mark(ctx, who.Sub, ref, in.Body.Read)
	return &notificationOutput{notificationOf(n)}, err
}
