package audit

import (
	"encoding/json"
	"encoding/xml"
	"net/url"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/server"
)

// stsVersion is the version of the Security Token Service's API.
const stsVersion = "2011-06-15"

// shownOfSTS are the parameters of STS that are not secret.
var shownOfSTS = []string{"RoleArn", "RoleSessionName", "DurationSeconds", "ExternalId", "SourceIdentity"}

// RecordForm writes the record of a request of the Security Token Service, the only other service whose requests are recorded.
func (l *Log) RecordForm(a *server.Audited, form url.Values, response []byte) error {
	if !l.records(Management) {
		return nil
	}
	r := l.newRecord(a)
	r.EventSource, r.EventName, r.APIVersion = "sts.amazonaws.com", cut(form.Get("Action")), stsVersion
	r.ReadOnly = true // it changes no stored state
	shown := map[string]string{}
	for _, name := range shownOfSTS {
		if value := form.Get(name); value != "" {
			shown[lowerFirst(name)] = cut(value)
		}
	}
	r.RequestParameters = marshal(shown)
	var sent stsResponse
	_ = xml.Unmarshal(response, &sent) // another response has neither
	r.ErrorCode = cut(sent.Error.Code)
	if began := sent.began(); began.Credentials.AccessKeyID != "" {
		r.ResponseElements, _ = json.Marshal(began) // strings can always be encoded
		if began.Subject != "" {
			r.UserIdentity = userIdentity{Type: "WebIdentityUser", PrincipalID: began.Provider + ":" + began.Audience + ":" + began.Subject, UserName: began.Subject}
		}
	}
	return l.write(r)
}

// stsResponse is the recorded part of an STS response.
type stsResponse struct {
	Error       struct{ Code string }
	AssumeRole  session `xml:"AssumeRoleResult"`
	WebIdentity session `xml:"AssumeRoleWithWebIdentityResult"`
	User        session `xml:"GetSessionTokenResult"`
}

// session is the session started by a request, without its secrets: the key's id is in the records of its requests.
type session struct {
	Credentials struct {
		AccessKeyID string `xml:"AccessKeyId" json:"accessKeyId"`
		Expiration  string `json:"expiration"`
	} `json:"credentials"`
	User *struct {
		ID  string `xml:"AssumedRoleId" json:"assumedRoleId"`
		ARN string `xml:"Arn"           json:"arn"`
	} `xml:"AssumedRoleUser" json:"assumedRoleUser,omitempty"`
	SourceIdentity string `json:"sourceIdentity,omitempty"`
	Subject        string `xml:"SubjectFromWebIdentityToken" json:"subjectFromWebIdentityToken,omitempty"`
	Provider       string `json:"provider,omitempty"`
	Audience       string `json:"audience,omitempty"`
}

func (r *stsResponse) began() *session {
	for _, s := range []*session{&r.AssumeRole, &r.WebIdentity} {
		if s.Credentials.AccessKeyID != "" {
			return s
		}
	}
	return &r.User
}

// RecordIAM writes the record of an owner's change of users, roles, policies and keys, by an action like "user create".
func (l *Log) RecordIAM(action, region string, parameters map[string]string, failed error) error {
	if !l.records(Management) {
		return nil
	}
	a := &server.Audited{Owner: true, Region: region}
	if failed != nil {
		a.Err = apierr.New("ValidationError", failed.Error())
	}
	r := l.newRecord(a)
	r.EventSource, r.EventName, r.APIVersion = "iam.amazonaws.com", iamName(action), "2010-05-08"
	r.ReadOnly = strings.HasSuffix(action, " list") || strings.HasSuffix(action, " show")
	r.RequestID = r.EventID
	r.RequestParameters = marshal(parameters)
	return l.write(r)
}

// iamName returns IAM's name of an action: CreateUser, AttachPolicy.
func iamName(action string) string {
	noun, verb, _ := strings.Cut(action, " ")
	if noun == "key" {
		noun = "accessKey"
	}
	if verb == "show" {
		verb = "get"
	}
	if noun == "" || verb == "" {
		return cut(action)
	}
	return strings.ToUpper(verb[:1]) + verb[1:] + strings.ToUpper(noun[:1]) + noun[1:]
}
