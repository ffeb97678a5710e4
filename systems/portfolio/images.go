package portfolio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"time"

	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/bucket"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/portfolio/picture"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
	"github.com/monotable/monotable/systems/portfolio/site"
)

const (
	// mostBytes is the maximum size of an upload.
	mostBytes = 10 << 20
	// uploadFor is how long an upload address is valid; awaitFor is how long an image waits for its upload.
	uploadFor, awaitFor = 15 * time.Minute, 24 * time.Hour
	// keepFor is how long an image is kept before its next check. A save postpones the check unless the check is more than
	// saveWithin away; a save takes less time than that.
	keepFor, saveWithin = 7 * 24 * time.Hour, 24 * time.Hour
	// checkEvery is the interval of the schedule that checks images.
	checkEvery = time.Hour
	// mostImages is the maximum per post, mostOwned per user.
	mostImages, mostOwned = 200, 500
)

// ticket is an image to be uploaded, with instructions for the upload.
type ticket struct {
	portfoliodb.Image
	bucket.Upload
}

// awaitImage creates an image and returns where its file must be uploaded.
func (s *service) awaitImage(ctx context.Context, who auth.Principal, in api.Body[ImageInput]) (ticket, error) {
	created, err := s.db.AwaitImage(ctx, portfoliodb.AwaitImageInput{
		UserID: who.Sub, ImageID: s.newID(), Size: in.Body.Size, CheckAt: s.clock().Add(awaitFor), Most: mostOwned,
	})
	if err != nil {
		return ticket{}, err
	}
	upload, err := s.files.Upload(ctx, uploadKey(created.Image.ImageID), in.Body.Size, uploadFor)
	return ticket{created.Image, upload}, err
}

var (
	errNotUploaded   = problem.Conflict(CodeNotUploaded, "the file is not uploaded yet")
	errImageTooLarge = problem.BadRequest(CodeImageTooLarge, "the picture has too many pixels, or an extreme aspect ratio")
	errNotAnImage    = problem.BadRequest(CodeNotAnImage, "the file is not a JPEG, PNG, GIF or WebP")
	errNoSuchImage   = problem.BadRequest(CodeNoSuchImage, "you have no such image")
)

// keepImage turns an upload into an image. It is idempotent.
func (s *service) keepImage(ctx context.Context, who auth.Principal, in imagePath) (portfoliodb.Image, error) {
	is, err := s.db.ImageByID(ctx, portfoliodb.ImageByIDInput{UserID: who.Sub, ImageID: in.ImageID})
	if err != nil || is.State == portfoliodb.ImageStateReady {
		return is, err
	}
	file, err := s.files.Get(ctx, uploadKey(in.ImageID), mostBytes)
	if errors.Is(err, bucket.ErrMissing) {
		// A concurrent request may have processed the image and deleted the upload.
		if is, err = s.db.ImageByID(ctx, portfoliodb.ImageByIDInput{UserID: who.Sub, ImageID: in.ImageID}); err == nil && is.State != portfoliodb.ImageStateReady {
			err = errNotUploaded
		}
		return is, err
	}
	if err != nil {
		return is, err
	}
	p, err := picture.Make(file)
	if err != nil {
		return is, ofPicture(err)
	}
	for key, data := range map[string][]byte{imageKey(in.ImageID): p.Wide, smallKey(in.ImageID): p.Narrow} {
		if err := s.files.Put(ctx, key, p.MediaType, data); err != nil {
			return is, err
		}
	}
	width, height := int64(p.Width), int64(p.Height)
	is.State, is.Width, is.Height, is.Size, is.CheckAt = portfoliodb.ImageStateReady, &width, &height, int64(len(p.Wide)), s.clock().Add(keepFor)
	_, err = s.db.KeepImage(ctx, portfoliodb.KeepImageInput{UserID: who.Sub, ImageID: in.ImageID, Size: is.Size, Width: &width, Height: &height, CheckAt: is.CheckAt})
	if errors.Is(err, portfoliodb.ErrImageReady) { // by a concurrent request, from the same file or one uploaded since
		return s.db.ImageByID(ctx, portfoliodb.ImageByIDInput{UserID: who.Sub, ImageID: in.ImageID})
	}
	if errors.Is(err, table.ErrNotFound) { // removed in the meantime, so nothing else would delete the stored files
		return is, errors.Join(err, s.files.Delete(ctx, imageKey(in.ImageID)), s.files.Delete(ctx, smallKey(in.ImageID)))
	}
	if err != nil {
		return is, err
	}
	return is, s.files.Delete(ctx, uploadKey(in.ImageID))
}

// ofPicture converts the error for an unusable file.
func ofPicture(err error) error {
	switch {
	case errors.Is(err, picture.ErrLarge):
		return errImageTooLarge
	case errors.Is(err, picture.ErrFormat):
		return errNotAnImage
	}
	return err
}

func uploadKey(id string) string { return "uploads/" + id }
func imageKey(id string) string  { return "images/" + id }
func smallKey(id string) string  { return "small/" + id }

// serveImage serves GET /images/{id} to everyone who knows the id: published posts contain it, and it cannot be guessed. The
// response never changes, and is always an image.
func (s *service) serveImage(key func(string) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		refuse := func(err error) { api.Complete(r.Context(), problem.Rules{}.Problem(err)).Write(w) }
		id := r.PathValue("id")
		if !imageForm.MatchString(id) {
			refuse(table.ErrNotFound)
			return
		}
		data, err := s.files.Get(r.Context(), key(id), mostBytes)
		if drawn, ok := s.covers.of(id); ok && errors.Is(err, bucket.ErrMissing) {
			data, err = map[string][]byte{imageKey(id): drawn.Wide, smallKey(id): drawn.Narrow}[key(id)], nil
		}
		if errors.Is(err, bucket.ErrMissing) {
			refuse(table.ErrNotFound)
			return
		}
		if err != nil {
			s.logger.ErrorContext(r.Context(), "an image cannot be read", "imageId", id, "error", err)
			refuse(err)
			return
		}
		h := w.Header()
		h.Set("Content-Type", http.DetectContentType(data)) // it was encoded here
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("ETag", `"`+key(id)+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}
}

var imageForm = regexp.MustCompile(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`)

// shown returns the images that a user's post will use: the user's own images in its text, and its cover, which must be the
// user's own. It also postpones their check, so they are kept for a while whether or not the save succeeds.
func (s *service) shown(ctx context.Context, userID string, in PostInput) (images []string, err error) {
	ids := site.Images(in.Body)
	if in.CoverID != nil {
		ids = append(ids, *in.CoverID)
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) > mostImages {
		return nil, problem.BadRequest(problem.CodeInvalidBody, "the post shows too many images", problem.Field{Field: "body.body", Message: "shows too many images"})
	}
	images, err = s.claimed(ctx, userID, ids)
	if err == nil && in.CoverID != nil && !slices.Contains(images, *in.CoverID) {
		return nil, noSuchImage("body.coverId")
	}
	return images, err
}

func noSuchImage(field string) error {
	return errNoSuchImage.With(errNoSuchImage.Detail, problem.Field{Field: field, Message: "is not one of your images"})
}

// claimed returns the images that belong to the user and are ready, and postpones their check.
func (s *service) claimed(ctx context.Context, userID string, ids []string) (own []string, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	in := make([]portfoliodb.ImageByIDInput, len(ids))
	for i, id := range ids {
		in[i] = portfoliodb.ImageByIDInput{UserID: userID, ImageID: id}
	}
	found, err := s.db.ImageByIDBatch(ctx, in)
	if err != nil {
		return nil, err
	}
	now := s.clock()
	for _, is := range found {
		if is == nil || is.State != portfoliodb.ImageStateReady {
			continue
		}
		if is.CheckAt.Before(now.Add(saveWithin)) {
			_, err := s.db.CheckImageLater(ctx, portfoliodb.CheckImageLaterInput{UserID: userID, ImageID: is.ImageID, CheckAt: now.Add(keepFor)})
			if errors.Is(err, table.ErrNotFound) {
				continue // removed in the meantime
			}
			if err != nil {
				return nil, err
			}
		}
		own = append(own, is.ImageID)
	}
	return own, nil
}

// checkImages removes unused images, and postpones the check of the others.
func (s *service) checkImages(ctx context.Context) error {
	now := s.clock()
	if err := s.files.Tidy(ctx, "uploads", now.Add(-awaitFor)); err != nil {
		return err
	}
	used := map[string]map[string]bool{} // by user
	for is, err := range s.db.ImagesToCheckAll(ctx, portfoliodb.ImagesToCheckInput{CheckAtTo: &now}) {
		if err != nil {
			return err
		}
		if used[is.UserID] == nil {
			// A request that starts using an image after this read has postponed the image's check first, so the image is not
			// removed.
			if used[is.UserID], err = s.imagesShown(ctx, is.UserID); err != nil {
				return err
			}
		}
		if used[is.UserID][is.ImageID] {
			_, err = s.db.CheckImageLater(ctx, portfoliodb.CheckImageLaterInput{UserID: is.UserID, ImageID: is.ImageID, CheckAt: now.Add(keepFor)})
		} else {
			_, err = s.db.RemoveImage(ctx, portfoliodb.RemoveImageInput{UserID: is.UserID, ImageID: is.ImageID, Seen: is.CheckAt})
		}
		if err != nil && !errors.Is(err, table.ErrNotFound) && !errors.Is(err, portfoliodb.ErrImageWanted) {
			return fmt.Errorf("check image %s: %w", is.ImageID, err)
		}
	}
	return nil
}

// imagesShown returns all images that a user's posts and profile use.
func (s *service) imagesShown(ctx context.Context, userID string) (map[string]bool, error) {
	used := map[string]bool{}
	profile, err := s.db.UserByID(ctx, portfoliodb.UserByIDInput{UserID: userID})
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return nil, err
	}
	if profile.AvatarID != nil {
		used[*profile.AvatarID] = true
	}
	// In the order in which a post moves between statuses, so that no post is missed.
	for _, status := range []portfoliodb.PostStatus{portfoliodb.PostStatusDraft, portfoliodb.PostStatusPublished, portfoliodb.PostStatusArchived} {
		for p, err := range s.db.PostsByAuthorAll(ctx, portfoliodb.PostsByAuthorInput{UserID: userID, Status: status}) {
			if err != nil {
				return nil, err
			}
			for _, id := range p.Images {
				used[id] = true
			}
		}
	}
	return used, nil
}

// deleteFiles deletes the files of images removed by the schedule or by erasure.
func (s *service) deleteFiles(ctx context.Context, b consumer.Batch) error {
	for _, r := range b.Records {
		if r.EventName != streams.OperationTypeRemove {
			continue
		}
		item, _, err := portfoliodb.Decode(table.FromStream(r.Dynamodb.OldImage))
		is, ok := item.(portfoliodb.Image)
		if err != nil || !ok {
			continue
		}
		for _, key := range []string{uploadKey(is.ImageID), imageKey(is.ImageID), smallKey(is.ImageID)} {
			if err := s.files.Delete(ctx, key); err != nil {
				return fmt.Errorf("delete the files of image %s: %w", is.ImageID, err)
			}
		}
	}
	return nil
}

// saveProfile creates or changes the caller's profile.
func (s *service) saveProfile(ctx context.Context, who auth.Principal, in api.Body[ProfileInput]) (portfoliodb.SaveProfileResult, error) {
	d := in.Body
	if d.AvatarID != nil {
		own, err := s.claimed(ctx, who.Sub, []string{*d.AvatarID})
		if err != nil {
			return portfoliodb.SaveProfileResult{}, err
		}
		if len(own) == 0 {
			return portfoliodb.SaveProfileResult{}, noSuchImage("body.avatarId")
		}
	}
	return s.db.SaveProfile(ctx, portfoliodb.SaveProfileInput{UserID: who.Sub, Email: d.Email, Name: d.Name, Bio: &d.Bio, AvatarID: d.AvatarID})
}
