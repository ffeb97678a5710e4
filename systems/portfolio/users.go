package portfolio

import (
	"context"

	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// user is what a user has said of himself.
func (s *service) user(ctx context.Context, userID string) (portfoliodb.User, error) {
	return s.db.UserByID(ctx, portfoliodb.UserByIDInput{UserID: userID})
}

// userByEmail is the user of an address, in whatever case its letters are.
func (s *service) userByEmail(ctx context.Context, email string) (portfoliodb.User, error) {
	return s.db.UserByEmail(ctx, portfoliodb.UserByEmailInput{Email: email})
}

// saveProfile makes a user's profile, or changes it; when it was made stays. No bio is none.
func (s *service) saveProfile(ctx context.Context, userID, email, name, bio string) (portfoliodb.User, error) {
	in := portfoliodb.SaveProfileInput{UserID: userID, Email: email, Name: name}
	if bio != "" {
		in.Bio = &bio
	}
	result, err := s.db.SaveProfile(ctx, in)
	if err != nil {
		return portfoliodb.User{}, err
	}
	return *result.User, nil // it was read, for its address
}
