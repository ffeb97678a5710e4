package appcore

import (
	"context"

	"github.com/monotable/monotable/systems/appcore/appcoredb"
)

// profile is what a user has said of himself.
func (s *service) profile(ctx context.Context, userID string) (appcoredb.User, error) {
	return s.db.Profile(ctx, appcoredb.ProfileInput{UserID: userID})
}

// saveProfile makes a user's profile, or changes it; when it was made stays.
func (s *service) saveProfile(ctx context.Context, userID, email, name string) (appcoredb.User, error) {
	result, err := s.db.SaveProfile(ctx, appcoredb.SaveProfileInput{UserID: userID, Email: email, Name: name})
	return result.User, err
}
