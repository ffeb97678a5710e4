package portfolio

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

func (s *service) registerNotifications(a huma.API) {
	huma.Register(a, huma.Operation{
		OperationID: "listNotifications", Method: http.MethodGet, Path: "/notifications", Tags: []string{tagNotifications},
		Summary: "Your notifications, newest first",
	}, s.listNotifications)
	huma.Register(a, huma.Operation{
		OperationID: "patchNotification", Method: http.MethodPatch, Path: "/notifications/{id}", Tags: []string{tagNotifications},
		Summary: "Mark a notification as read, or as not read", Errors: []int{http.StatusNotFound},
	}, s.patchNotification)
}

func (s *service) listNotifications(ctx context.Context, in *struct{ api.PageQuery }) (*api.PageOutput[Notification], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	page, err := s.notifications(ctx, who.Sub, in.Options())
	return api.PageOf(page, notificationOf), err
}

type patchNotificationInput struct {
	ID   string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"The notification's notificationId"`
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
	n, err := s.mark(ctx, who.Sub, in.ID, in.Body.Read)
	return &notificationOutput{notificationOf(n)}, err
}
