package portfolio

import (
	"context"
	"errors"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// like likes a published post. It is idempotent.
func (s *service) like(ctx context.Context, who auth.Principal, in PostPath) (portfoliodb.Like, error) {
	result, err := s.db.LikePost(ctx, portfoliodb.LikePostInput{PostID: in.PostID, UserID: who.Sub})
	if errors.Is(err, portfoliodb.ErrLikeExists) {
		if is, ok := found[portfoliodb.Like](err); ok {
			return is, nil
		}
	}
	return result.Like, err
}
