package appcore

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/api"
)

// routes registers the API. Routes named after an access pattern of the design call it directly; the others call domain
// functions.
func (s *service) routes(a huma.API) {
	const caller = "UserID" // the field of access patterns that is set to the caller's id

	profile := api.Tag(a, "Profile")
	api.Get[Profile](profile, "/me", "getProfile", "Your profile", api.Call[api.None](s.db.Profile, caller), api.NotFound)
	api.Put[Profile](profile, "/me", "putProfile", "Create or change your profile", api.Call[api.Body[ProfileInput]](s.db.SaveProfile, caller))

	transactions := api.Tag(a, "Transactions")
	api.List[Transaction](transactions, "/transactions", "listTransactions", "Your transactions, newest first", s.transactions)
	api.Create[Transaction](transactions, "/transactions", "createTransaction", "Create a transaction", s.create, api.At("transactions/{txId}"),
		api.About("It is PENDING until it is settled; a notification then reports the outcome."))
	api.Get[LatestTransactions](transactions, "/transactions/global", "latestTransactions", "The ten most recent transactions of all users", s.latest,
		api.Cache("private, max-age=1"))
	api.Get[Transaction](transactions, "/transactions/{id}", "getTransaction", "One of your transactions", s.transaction, api.NotFound,
		api.Refuses(errAnothers))

	notifications := api.Tag(a, "Notifications")
	api.List[Notification](notifications, "/notifications", "listNotifications", "Your notifications, newest first", s.notifications)
	operators := api.Groups(AdminGroup)
	operation := api.Tag(a, "Operation")
	api.List[OperatedTransaction](operation, "/queue/{status}", "listQueue", "All transactions in a status", s.queue, operators,
		api.About("Those that are pending or failed, oldest first; those that were completed, newest first."))
	api.Get[OperatedTransaction](operation, "/queue/transactions/{id}", "getAnyTransaction", "Any user's transaction", s.anyTransaction, operators, api.NotFound)
	api.Post[OperatedTransaction](operation, "/queue/transactions/{id}/replay", "replayTransaction", "Settle a pending transaction now", s.replay, operators, api.NotFound,
		api.About("The rule is evaluated again. A transaction that is already settled does not change, and its owner is not notified twice. "+
			"The response is 503 if the rule cannot decide now; the transaction then stays pending."))

	s.liveRoutes(a, operators)
	api.ListActs(operation, s.db.ActsOfDay, operators)

	api.Patch[Notification](notifications, "/notifications/{id}", "patchNotification", "Mark a notification as read or unread", s.mark,
		api.Refuses(appcoredb.ErrNotificationExpired))
}

// ProfileInput is a user's profile.
type ProfileInput struct {
	Email string `json:"email" format:"email" maxLength:"254" doc:"Your e-mail address"`
	Name  string `json:"name" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]*[^\\x00-\\x20\\x7f][^\\x00-\\x1f\\x7f]*$" patternDescription:"a line that is not blank" doc:"Your name"`
}

// transactionQuery has its times as strings, because the zero time.Time is a valid time to query.
type transactionQuery struct {
	api.PageQuery
	From string `query:"from" format:"date-time" doc:"The earliest creation time"`
	To   string `query:"to" format:"date-time" doc:"The latest creation time"`
}

type queueQuery struct {
	api.PageQuery
	Status appcoredb.TxStatus `path:"status" enum:"PENDING,COMPLETED,FAILED" doc:"Which of them"`
}

type transactionPath struct {
	TxID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"The transaction's txId"`
}

// TransactionInput is a new transaction.
type TransactionInput struct {
	Amount   int64              `json:"amount" minimum:"1" maximum:"9007199254740991" doc:"The amount, in the currency's smallest unit"`
	Currency appcoredb.Currency `json:"currency" enum:"ARS,BRL,USD" doc:"The currency"`
}

type notificationInput struct {
	ID   string `path:"id" pattern:"^[A-Za-z0-9_-]{32}$" patternDescription:"a notification's notifId" doc:"The notification's notifId"`
	Body NotificationInput
}

// NotificationInput changes a notification.
type NotificationInput struct {
	Read bool `json:"read" doc:"Whether it has been read"`
}
