//go:build unix

package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// The access key and the time with which requests are signed; servers that check signatures are configured to accept the time.
const (
	keyID     = "AKIABENCH"
	keySecret = "bench"
	signedDay = "20261120"
	signedAt  = signedDay + "T000000Z"
	signedFor = signedDay + "/us-east-1/dynamodb/aws4_request"
	// unsigned is the placeholder for the signature.
	unsigned = "0000000000000000000000000000000000000000000000000000000000000000"
	// authorization is the header of all requests.
	authorization = "AWS4-HMAC-SHA256 Credential=" + keyID + "/" + signedFor + ", SignedHeaders=host;x-amz-date;x-amz-target, Signature="
)

// signer signs requests with one target to one server. Every server gets signed requests, so that the load generator costs the
// same for those that check signatures.
type signer struct {
	canonical []byte // without the body's hash
	mac       hash.Hash
	prefix    []byte // of the string to sign
}

func newSigner(host, target string) *signer {
	key := []byte("AWS4" + keySecret)
	for _, part := range []string{signedDay, "us-east-1", "dynamodb", "aws4_request"} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	return &signer{
		canonical: []byte("POST\n/\n\nhost:" + host + "\nx-amz-date:" + signedAt + "\nx-amz-target:" + target + "\n\nhost;x-amz-date;x-amz-target\n"),
		mac:       hmac.New(sha256.New, key),
		prefix:    []byte("AWS4-HMAC-SHA256\n" + signedAt + "\n" + signedFor + "\n"),
	}
}

// sign writes the signature of a request with a body, 64 digits.
func (s *signer) sign(dst, body []byte) {
	sum := sha256.Sum256(body)
	var room [1024]byte
	sum = sha256.Sum256(hex.AppendEncode(append(room[:0], s.canonical...), sum[:]))
	s.mac.Reset()
	s.mac.Write(hex.AppendEncode(append(room[:0], s.prefix...), sum[:]))
	hex.Encode(dst, s.mac.Sum(room[:0]))
}
