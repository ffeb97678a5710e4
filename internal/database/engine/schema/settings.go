package schema

import (
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

const (
	sseKMS        = "KMS"
	classStandard = "STANDARD"
)

func checkClass(class string) error {
	if class != classStandard && class != "STANDARD_INFREQUENT_ACCESS" {
		return apierr.TableClassInvalid.With()
	}
	return nil
}

func checkNewStream(s *api.StreamSpecification) error {
	switch {
	case *s.StreamEnabled && s.StreamViewType == nil:
		return apierr.NewStreamViewMissing.With()
	case !*s.StreamEnabled && s.StreamViewType != nil:
		return apierr.NewStreamViewNeedless.With()
	}
	return nil
}

// newStream returns a stream that starts now; its label is the time, which distinguishes it from earlier ones.
func newStream(s *api.StreamSpecification, now int64) catalog.Stream {
	return catalog.Stream{
		Enabled: true,
		View:    *s.StreamViewType,
		Label:   time.UnixMilli(now).UTC().Format(catalog.StreamLabelLayout),
	}
}

// encryption evaluates an SSE specification. The zero result is encryption under a key owned by AWS, which AWS does not describe.
// SSEType alone also requests encryption.
func (e Env) encryption(in *api.SSESpecification) (catalog.Encryption, error) {
	if in == nil {
		return catalog.Encryption{}, nil
	}
	enabled := in.SSEType != nil
	if in.Enabled != nil {
		enabled = *in.Enabled
	}
	switch {
	case !enabled && in.SSEType != nil:
		return catalog.Encryption{}, apierr.SSETypeWithoutSSE.With()
	case !enabled && in.KMSMasterKeyId != nil && in.Enabled != nil:
		return catalog.Encryption{}, apierr.SSEKeyWithoutSSE.With()
	case in.SSEType != nil && *in.SSEType != sseKMS:
		return catalog.Encryption{}, apierr.SSETypeUnsupported.With(*in.SSEType)
	case in.SSEType == nil && in.KMSMasterKeyId != nil:
		return catalog.Encryption{}, apierr.SSEKeyWithoutType.With()
	case !enabled:
		return catalog.Encryption{}, nil
	}
	scope := "arn:aws:kms:" + e.Region + ":" + e.AccountID + ":"
	switch id := in.KMSMasterKeyId; {
	case id == nil:
		return catalog.Encryption{KeyARN: scope + "alias/aws/dynamodb"}, nil
	case strings.HasPrefix(*id, "arn:"):
		return catalog.Encryption{KeyARN: *id}, nil
	case strings.HasPrefix(*id, "alias/"):
		return catalog.Encryption{KeyARN: scope + *id}, nil
	default:
		return catalog.Encryption{KeyARN: scope + "key/" + *id}, nil
	}
}

// changedEncryption is encryption for an existing table: an update without a change is rejected, except for a repeated request of
// the key owned by AWS.
func (e Env) changedEncryption(old catalog.Encryption, in *api.SSESpecification) (catalog.Encryption, error) {
	changed, err := e.encryption(in)
	switch {
	case err != nil:
		return old, err
	case changed.KeyARN == "" && old.KeyARN == "":
		return old, apierr.SSEByDefault.With()
	case in.KMSMasterKeyId != nil && changed == old:
		return old, apierr.SSEByThatKey.With()
	}
	return changed, nil
}
