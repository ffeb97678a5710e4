package payments

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of a signed request according to https://www.standardwebhooks.com.
const (
	headerID        = "Webhook-Id"
	headerTime      = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
	signatureMark   = "v1,"
)

// replayWindow is the maximum difference between a signature's time and now.
const replayWindow = 5 * time.Minute

// secretMin is the minimum length of a secret.
const secretMin = 24

// signed returns the headers with which an event is sent.
func signed(secret []byte, id string, at time.Time, body []byte) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	return http.Header{
		headerID: {id}, headerTime: {stamp}, headerSignature: {signatureMark + base64.StdEncoding.EncodeToString(mac(secret, id, stamp, string(body)))},
	}
}

// verify reports whether a request has a valid, recent signature. It may have several signatures while secrets are rotated.
func verify(secret []byte, header http.Header, now time.Time, body []byte) bool {
	stamp := header.Get(headerTime)
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > replayWindow {
		return false
	}
	want := mac(secret, header.Get(headerID), stamp, string(body))
	for text := range strings.FieldsSeq(header.Get(headerSignature)) {
		encoded, known := strings.CutPrefix(text, signatureMark)
		got, err := base64.StdEncoding.DecodeString(encoded)
		if known && err == nil && hmac.Equal(got, want) {
			return true
		}
	}
	return false
}

func mac(secret []byte, parts ...string) []byte {
	sum := hmac.New(sha256.New, secret)
	_, _ = sum.Write([]byte(strings.Join(parts, "."))) // never fails
	return sum.Sum(nil)
}
