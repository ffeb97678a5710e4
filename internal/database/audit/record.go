package audit

import (
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/identity/policy"
	"github.com/monotable/monotable/internal/database/identity/signature"
	"github.com/monotable/monotable/internal/database/server"
)

// record is a CloudTrail record. Its documentation:
// https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-event-reference-record-contents.html
type record struct {
	EventVersion        string            `json:"eventVersion"`
	UserIdentity        userIdentity      `json:"userIdentity"`
	EventTime           string            `json:"eventTime"`
	EventSource         string            `json:"eventSource"`
	EventName           string            `json:"eventName"`
	Region              string            `json:"awsRegion"`
	SourceIP            string            `json:"sourceIPAddress"`
	UserAgent           string            `json:"userAgent"`
	ErrorCode           string            `json:"errorCode,omitempty"`
	ErrorMessage        string            `json:"errorMessage,omitempty"`
	RequestParameters   json.RawMessage   `json:"requestParameters"`
	ResponseElements    json.RawMessage   `json:"responseElements"`
	AdditionalEventData map[string]string `json:"additionalEventData,omitempty"`
	RequestID           string            `json:"requestID"`
	EventID             string            `json:"eventID"`
	ReadOnly            bool              `json:"readOnly"`
	Resources           []resource        `json:"resources,omitempty"`
	EventType           string            `json:"eventType"`
	APIVersion          string            `json:"apiVersion,omitempty"`
	ManagementEvent     bool              `json:"managementEvent"`
	Recipient           string            `json:"recipientAccountId"`
	EventCategory       string            `json:"eventCategory"`
	TLS                 *tlsDetails       `json:"tlsDetails,omitempty"`
}

type userIdentity struct {
	Type           string          `json:"type"`
	PrincipalID    string          `json:"principalId,omitempty"`
	ARN            string          `json:"arn,omitempty"`
	AccountID      string          `json:"accountId,omitempty"`
	AccessKeyID    string          `json:"accessKeyId,omitempty"`
	UserName       string          `json:"userName,omitempty"`
	InvokedBy      string          `json:"invokedBy,omitempty"`
	SessionContext *sessionContext `json:"sessionContext,omitempty"`
}

type sessionContext struct {
	Issuer         sessionIssuer `json:"sessionIssuer"`
	SourceIdentity string        `json:"sourceIdentity,omitempty"`
}

type sessionIssuer struct {
	Type      string `json:"type"`
	ARN       string `json:"arn"`
	AccountID string `json:"accountId"`
	UserName  string `json:"userName"`
}

type resource struct {
	AccountID string `json:"accountId"`
	Type      string `json:"type"`
	ARN       string `json:"ARN"`
}

type tlsDetails struct {
	Version string `json:"tlsVersion"`
	Cipher  string `json:"cipherSuite"`
	Host    string `json:"clientProvidedHostHeader"`
}

// textMax is the maximum length of a client's text in a record.
const textMax = 1024

func cut(text string) string { return strings.ToValidUTF8(text[:min(len(text), textMax)], "\uFFFD") }

// newRecord returns a record with the common fields.
func (l *Log) newRecord(a *server.Audited) *record {
	r := &record{
		EventVersion: "1.11", UserIdentity: identity(a), EventTime: l.o.Now().UTC().Format("2006-01-02T15:04:05Z"), Region: a.Region,
		RequestID: a.ID, EventID: newID(), EventType: "AwsApiCall", ManagementEvent: true, EventCategory: "Management", Recipient: l.o.Account,
	}
	if a.Err != nil {
		r.ErrorCode = string(a.Err.Code)
		if l.o.Values || !slices.Contains(revealing, a.Err.Code) {
			r.ErrorMessage = cut(a.Err.Message)
		}
	}
	if a.Owner {
		r.SourceIP, r.UserAgent = "internal", "monotable"
		return r
	}
	r.SourceIP, r.UserAgent = a.Request.RemoteAddr, cut(a.Request.UserAgent())
	if host, _, err := net.SplitHostPort(r.SourceIP); err == nil {
		r.SourceIP = host
	}
	if state := a.Request.TLS; state != nil {
		version := strings.Replace(tls.VersionName(state.Version), "TLS 1.", "TLSv1.", 1)
		r.TLS = &tlsDetails{version, tls.CipherSuiteName(state.CipherSuite), cut(a.Request.Host)}
		if len(state.PeerCertificates) > 0 {
			c := state.PeerCertificates[0]
			r.AdditionalEventData = map[string]string{"clientCertificateSubject": cut(c.Subject.String()), "clientCertificateSerialNumber": c.SerialNumber.String()}
		}
	}
	return r
}

// revealing are the codes whose messages can show a value, the signed text, or an Authorization header, which may have been meant
// for another server.
var revealing = []apierr.Code{
	apierr.ValidationException, apierr.SerializationException, apierr.InvalidSignatureException, apierr.IncompleteSignatureException,
	apierr.TransactionCanceledException,
}

// identity returns who sent a request, as far as that is authenticated.
func identity(a *server.Audited) userIdentity {
	who := a.Who
	switch {
	case a.Owner:
		return userIdentity{Type: "AWSService", InvokedBy: "monotable"}
	case who == nil || who.ARN == "": // without authentication, or with a failed one; the key is the one in the request
		return userIdentity{Type: "Unknown", AccessKeyID: accessKeyID(a.Request)}
	}
	id := userIdentity{Type: "IAMUser", PrincipalID: who.UserID, ARN: who.ARN, AccountID: who.Account, AccessKeyID: accessKeyID(a.Request), UserName: who.Username}
	switch {
	case who.Root:
		id.Type = "Root"
	case who.Role != "":
		id.Type = "AssumedRole"
		id.SessionContext = &sessionContext{Issuer: sessionIssuer{"Role", who.Role, who.Account, roleName(who)}, SourceIdentity: strings.Join(who.Keys["aws:sourceidentity"], "")}
	}
	return id
}

func roleName(who *policy.Principal) string {
	_, name, _ := strings.Cut(who.Role, ":role/")
	return name
}

// accessKeyID returns the key named in a request; if the signature is valid, it is the key that signed it.
func accessKeyID(r *http.Request) string {
	id, _, _ := signature.CredentialOf(r)
	return cut(id)
}

// resources returns the tables that were looked up.
func (l *Log) resources(a *server.Audited) []resource {
	var all []resource
	for _, name := range a.Tables {
		if name == "" {
			continue
		}
		// A table outside the default Region is named REGION/NAME.
		if _, rest, found := strings.Cut(name, "/"); found {
			name = rest
		}
		all = append(all, resource{l.o.Account, "AWS::DynamoDB::Table", "arn:aws:dynamodb:" + a.Region + ":" + l.o.Account + ":table/" + name})
	}
	return all
}

// marshal encodes a map of strings, which cannot fail.
func marshal(shown map[string]string) json.RawMessage {
	if len(shown) == 0 {
		return nil
	}
	text, _ := json.Marshal(shown)
	return text
}
