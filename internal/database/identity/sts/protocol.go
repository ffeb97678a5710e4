package sts

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/identity"
)

const namespace = "https://sts.amazonaws.com/doc/" + apiVersion + "/"

// fault is an error response.
type fault struct {
	status        int
	code, message string
}

func (f *fault) Error() string { return f.code + ": " + f.message }

var (
	errInternal  = &fault{http.StatusInternalServerError, "InternalFailure", "The request processing has failed because of an internal error. See the log of the server."}
	errTooLarge  = &fault{http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", fmt.Sprintf("The request is larger than %d bytes.", bodyMax)}
	errThrottled = &fault{http.StatusBadRequest, "Throttling", "Rate exceeded"}
)

func invalidAction(action, version string) *fault {
	return &fault{http.StatusBadRequest, "InvalidAction", fmt.Sprintf("Could not find operation %s for version %s", action, cmp.Or(version, "NO_VERSION_SPECIFIED"))}
}

func validation(format string, args ...any) *fault {
	return &fault{http.StatusBadRequest, "ValidationError", fmt.Sprintf(format, args...)}
}

func denied(format string, args ...any) *fault {
	return &fault{http.StatusForbidden, "AccessDenied", fmt.Sprintf(format, args...)}
}

// codes are STS's names of the server's own errors.
var codes = map[apierr.Code]fault{
	apierr.MissingAuthenticationTokenException: {http.StatusForbidden, "MissingAuthenticationToken", ""},
	apierr.IncompleteSignatureException:        {http.StatusBadRequest, "IncompleteSignature", ""},
	apierr.InvalidSignatureException:           {http.StatusForbidden, "SignatureDoesNotMatch", ""},
	apierr.UnrecognizedClientException:         {http.StatusForbidden, "InvalidClientTokenId", ""},
	apierr.ExpiredTokenException:               {http.StatusForbidden, "ExpiredToken", ""},
	apierr.AccessDeniedException:               {http.StatusForbidden, "AccessDenied", ""},
	apierr.ThrottlingException:                 {http.StatusBadRequest, "Throttling", ""},
}

// faultOf returns the response to an error.
func faultOf(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	if e, ok := errors.AsType[*apierr.Error](err); ok {
		f, known := codes[e.Code]
		if !known {
			f = fault{e.Status(), string(e.Code), ""}
		}
		f.message = e.Message
		return &f
	}
	if errors.Is(err, identity.ErrGone) { // deleted after the request was authenticated
		return faultOf(apierr.KeyUnknown.With())
	}
	return errInternal
}

func (f *fault) encode(id string) (status int, header http.Header, body []byte) {
	type detail struct{ Type, Code, Message string }
	sender := "Sender"
	if f.status >= http.StatusInternalServerError {
		sender = "Receiver"
	}
	body, _ = xml.Marshal(struct { // strings can always be encoded
		XMLName   xml.Name `xml:"ErrorResponse"`
		Namespace string   `xml:"xmlns,attr"`
		Error     detail
		RequestID string `xml:"RequestId"`
	}{Namespace: namespace, Error: detail{sender, f.code, f.message}, RequestID: id})
	return f.status, xmlHeader(), append(body, '\n')
}

func xmlHeader() http.Header { return http.Header{"Content-Type": {"text/xml"}} }

// result is the output of an operation.
type result interface{ operation() string }

// encode encodes the response of an operation.
func encode(out any, id string) ([]byte, error) {
	r, ok := out.(result)
	if !ok {
		return nil, fmt.Errorf("sts: %T is not a result", out)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<%sResponse xmlns="%s">`, r.operation(), namespace)
	e := xml.NewEncoder(&b)
	if err := e.EncodeElement(out, xml.StartElement{Name: xml.Name{Local: r.operation() + "Result"}}); err != nil {
		return nil, err
	}
	b.WriteString("<ResponseMetadata><RequestId>")
	if err := xml.EscapeText(&b, []byte(id)); err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, "</RequestId></ResponseMetadata></%sResponse>\n", r.operation())
	return []byte(b.String()), nil
}

// credentials are a session's, as in responses.
type credentials struct {
	AccessKeyID     string `xml:"AccessKeyId"`
	SecretAccessKey string
	SessionToken    string
	Expiration      string
}

func shown(c *identity.Credentials) credentials {
	return credentials{c.ID, c.Secret, c.Token, c.Expires.Format(time.RFC3339)}
}

// assumedRoleUser identifies a role's session.
type assumedRoleUser struct {
	AssumedRoleID string `xml:"AssumedRoleId"`
	ARN           string `xml:"Arn"`
}
