package catfecito

import (
	"bufio"
	"context"
	"crypto/sha1" //nolint:gosec // the list is of such hashes; nothing rests on them
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/ccojocar/zxcvbn-go"

	"github.com/monotable/monotable/systems/internal/problem"
)

// BreachedPasswords is the environment variable with the URL of a list of breached passwords, which is queried by the first five
// digits of their SHA-1, such as https://api.pwnedpasswords.com/range/. Without it, passwords are only checked for being easy to
// guess. If the list is unavailable, passwords are accepted, so that an external service cannot lock users out.
const BreachedPasswords = "CATFECITO_BREACHED_PASSWORDS_URL"

// scoreMin is the minimum zxcvbn score, from 0 to 4: a score of 2 withstands at least a million guesses.
const scoreMin = 2

// estimated is how much of a password is checked, because the estimate takes quadratic time.
const estimated = 64

var (
	errWeakPassword = problem.BadRequest("weak_password", "this password is easy to guess: use a longer one with several words",
		problem.Field{Field: "body.password", Message: "is easy to guess"})
	errBreachedPassword = problem.BadRequest("breached_password", "this password appeared in a breach of another site: use one that you use nowhere else",
		problem.Field{Field: "body.password", Message: "was found in a breach"})
)

// strong rejects a password that is in a breach list, or easy to guess for someone who knows the user.
func (s *service) strong(ctx context.Context, password string, about ...string) error {
	if zxcvbn.PasswordStrength(cut(password, estimated), append(about, Name)).Score < scoreMin {
		return errWeakPassword
	}
	if s.breached == "" {
		return nil
	}
	found, err := s.inBreach(ctx, password)
	if err != nil {
		s.logger.WarnContext(ctx, "the list of breached passwords is unavailable", "error", err)
		return nil
	}
	if found {
		return errBreachedPassword
	}
	return nil
}

// prefixDigits is the length of the hash prefix that is sent; the response has the remaining digits.
const prefixDigits = 5

// inBreach queries the list, which only learns the first digits of the hash.
func (s *service) inBreach(ctx context.Context, password string) (bool, error) {
	sum := sha1.Sum([]byte(password)) //nolint:gosec // as above
	digits := strings.ToUpper(hex.EncodeToString(sum[:]))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.breached+digits[:prefixDigits], nil)
	if err != nil {
		return false, err
	}
	request.Header.Set("Add-Padding", "true")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return false, fmt.Errorf("the list responds with %s", response.Status)
	}
	lines := bufio.NewScanner(http.MaxBytesReader(nil, response.Body, 1<<20))
	for lines.Scan() {
		rest, count, _ := strings.Cut(lines.Text(), ":")
		if strings.EqualFold(rest, digits[prefixDigits:]) && strings.TrimSpace(count) != "0" { // padding has a count of 0
			return true, nil
		}
	}
	return false, lines.Err()
}
