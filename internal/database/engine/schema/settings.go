package schema

import (
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

func checkNewStream(s *api.StreamSpecification) error {
	switch {
	case *s.StreamEnabled && s.StreamViewType == nil:
		return apierr.NewStreamViewMissing.With()
	case !*s.StreamEnabled && s.StreamViewType != nil:
		return apierr.NewStreamViewNeedless.With()
	}
	return nil
}

// newStream is a stream that begins now; its label is the time, which also tells it from earlier ones.
func newStream(s *api.StreamSpecification, now int64) catalog.Stream {
	return catalog.Stream{
		Enabled: true,
		View:    *s.StreamViewType,
		Label:   time.UnixMilli(now).UTC().Format(catalog.StreamLabelLayout),
	}
}

// encryption takes an SSE specification. The zero result is encryption under a key of AWS's own, which
// AWS does not describe.
func (e Env) encryption(in *api.SSESpecification) (catalog.Encryption, error) {
	enabled := in != nil && in.Enabled != nil && *in.Enabled
	switch {
	case in == nil:
		return catalog.Encryption{}, nil
	case !enabled && (in.SSEType != nil || in.KMSMasterKeyId != nil):
		return catalog.Encryption{}, apierr.SSETypeWithoutSSE.With()
	case !enabled:
		return catalog.Encryption{}, nil
	case in.SSEType != nil && *in.SSEType != "KMS":
		return catalog.Encryption{}, apierr.SSETypeUnsupported.With(*in.SSEType)
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
