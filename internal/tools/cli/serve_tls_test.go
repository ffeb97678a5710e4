package cli

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/server"
)

// authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

var serial int64

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t}
	pair := a.issue(&x509.Certificate{Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	a.cert, a.pem = pair.Leaf, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})
	a.key = pair.PrivateKey.(*ecdsa.PrivateKey)
	return a
}

// issue signs a certificate, with its own key if there is no authority yet.
func (a *authority) issue(c *x509.Certificate) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	serial++
	c.SerialNumber, c.NotBefore = big.NewInt(serial), time.Now().Add(-time.Hour)
	if c.NotAfter.IsZero() {
		c.NotAfter = time.Now().Add(time.Hour)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// server writes the files of a server certificate.
func (a *authority) server(files *tlsFlags, name string) {
	a.t.Helper()
	pair := a.issue(&x509.Certificate{Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		a.t.Fatal(err)
	}
	replaceFile(a.t, files.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}))
	replaceFile(a.t, files.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
}

func (a *authority) client(name string, uris ...string) *tls.Certificate {
	a.t.Helper()
	c := &x509.Certificate{Subject: pkix.Name{CommonName: name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	for _, uri := range uris {
		u, err := url.Parse(uri)
		if err != nil {
			a.t.Fatal(err)
		}
		c.URIs = append(c.URIs, u)
	}
	pair := a.issue(c)
	return &pair
}

// below is an authority certified by this one, for some names only.
func (a *authority) below(constraint *x509.Certificate) *authority {
	a.t.Helper()
	constraint.Subject, constraint.IsCA, constraint.BasicConstraintsValid, constraint.KeyUsage = pkix.Name{CommonName: "below"}, true, true, x509.KeyUsageCertSign
	pair := a.issue(constraint)
	return &authority{t: a.t, cert: pair.Leaf, key: pair.PrivateKey.(*ecdsa.PrivateKey)}
}

// under is a client's certificate followed by the authority's own.
func (a *authority) under(pair *tls.Certificate) *tls.Certificate {
	pair.Certificate = append(pair.Certificate, a.cert.Raw)
	return pair
}

// replaceFile replaces a file like tools that renew certificates.
func replaceFile(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name+".new", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
}

// tlsServer serves a database over HTTPS.
type tlsServer struct {
	t            *testing.T
	files        tlsFlags
	certificates *certificates
	log          *log
	address      string
	clock        atomic.Int64 // nanoseconds
}

// later advances the clock by the interval after which files are checked again.
func (s *tlsServer) later() { s.clock.Add(int64(certificateLook)) }

func serveTLS(t *testing.T, ca *authority, files tlsFlags, o *monotable.Options) *tlsServer {
	t.Helper()
	s := &tlsServer{t: t, log: new(log)}
	s.later()
	dir := t.TempDir()
	files.cert, files.key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	s.files = files
	ca.server(&s.files, "first")
	var err error
	if s.certificates, err = s.files.open(slog.New(slog.NewTextHandler(s.log, nil))); err != nil {
		t.Fatal(err)
	}
	s.certificates.now = func() time.Time { return time.Unix(0, s.clock.Load()) }
	db, err := monotable.OpenMemory(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []monotable.IAMRequest{
		{Action: "policy create", Name: "all", Document: `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"dynamodb:*","Resource":"*"}]}`},
		{Action: "user create", Name: "ana", Policies: []string{"all"}},
		{Action: "user create", Name: "bob"},
	} {
		if _, err := db.IAM(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = listener.Addr().String()
	serving := server.HTTPServer(db.Handler(), slog.New(slog.DiscardHandler))
	serving.HTTP().TLSConfig = s.certificates.config()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = serving.Serve(tls.NewListener(listener, serving.HTTP().TLSConfig))
	}()
	t.Cleanup(func() {
		if err := serving.Close(); err != nil {
			t.Error(err)
		}
		<-done
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// list lists the tables over a separate connection, and returns the error, and the name in the server's certificate.
func (s *tlsServer) list(ca *authority, client *tls.Certificate, who aws.CredentialsProvider) (string, error) {
	s.t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if client != nil {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return client, nil }
	}
	var name string
	config.VerifyConnection = func(state tls.ConnectionState) error {
		name = state.PeerCertificates[0].Subject.CommonName
		return nil
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	_, err := dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String("https://" + s.address), Region: "us-east-1", Credentials: who, HTTPClient: &http.Client{Transport: transport},
		RetryMaxAttempts: 1,
	}).ListTables(s.t.Context(), &dynamodb.ListTablesInput{})
	return name, err
}

// TestCertificatesAreReadAgain tests that new files apply from the next connection on, or at SIGHUP, and that invalid ones
// leave the old ones in use.
func TestCertificatesAreReadAgain(t *testing.T) {
	ca := newAuthority(t, "ca")
	s := serveTLS(t, ca, tlsFlags{}, &monotable.Options{})
	anybody := credentials.NewStaticCredentialsProvider("a", "b", "")
	want := func(want string) {
		t.Helper()
		if got, err := s.list(ca, nil, anybody); got != want || err != nil {
			t.Errorf("the certificate is %q, want %q: %v", got, want, err)
		}
	}
	later := s.later
	want("first")
	ca.server(&s.files, "second")
	want("first") // within the second
	later()
	want("second")

	// Files that do not match, are damaged or missing.
	key, err := os.ReadFile(s.files.key)
	if err != nil {
		t.Fatal(err)
	}
	ca.server(&s.files, "third")
	replaceFile(t, s.files.key, key)
	for range 3 {
		later()
		want("second")
	}
	if got := strings.Count(s.log.String(), "cannot load the certificates; keeping the previous ones"); got != 1 {
		t.Errorf("logged %d times:\n%s", got, s.log)
	}
	replaceFile(t, s.files.cert, []byte("nothing"))
	later()
	want("second")
	if err := os.Remove(s.files.cert); err != nil {
		t.Fatal(err)
	}
	later()
	want("second")
	ca.server(&s.files, "fourth")
	later()
	want("fourth")

	// SIGHUP does not wait for a connection, or a second.
	received := make(chan struct{}, 1)
	stop := atHangup(t.Context(), s.certificates.reloadOnHangup, func(context.Context) { received <- struct{}{} })
	ca.server(&s.files, "fifth")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	<-received
	stop()
	want("fifth")
}

// noConnection is part of the error of requests without a response. If a client writes while the server rejects its
// certificate, the error depends on the operating system.
const noConnection = "request send failed"

func connectionRefused(err error) bool {
	_, answered := errors.AsType[smithy.APIError](err)
	return err != nil && !answered && strings.Contains(err.Error(), noConnection)
}

// TestClientCertificates tests that clients need a certificate, that an unsigned request belongs to the user in it, and that a
// signature takes precedence.
func TestClientCertificates(t *testing.T) {
	ca, clients, others := newAuthority(t, "ca"), newAuthority(t, "clients"), newAuthority(t, "others")
	file := filepath.Join(t.TempDir(), "clients.pem")
	replaceFile(t, file, clients.pem)
	s := serveTLS(t, ca, tlsFlags{clientCA: file}, &monotable.Options{Auth: &monotable.Auth{
		Required: true, RootAccessKeyID: "AKIAROOT", RootSecretAccessKey: "secret",
	}})
	nobody := aws.AnonymousCredentials{}
	root := credentials.NewStaticCredentialsProvider("AKIAROOT", "secret", "")
	wrong := credentials.NewStaticCredentialsProvider("AKIAROOT", "wrong", "")
	const arn = "arn:aws:iam::000000000000:user/"
	expired := clients.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: "ana"}, NotAfter: time.Now().Add(-time.Minute), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	ofServer := clients.issue(&x509.Certificate{Subject: pkix.Name{CommonName: "ana"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	below, ofTeam := clients.below(&x509.Certificate{}), clients.below(&x509.Certificate{PermittedDNSDomains: []string{".team.example"}, PermittedDNSDomainsCritical: true})
	ofNoUser := clients.below(&x509.Certificate{PermittedURIDomains: []string{".team.example"}, PermittedDNSDomainsCritical: true})
	for _, c := range []struct {
		name   string
		client *tls.Certificate
		who    aws.CredentialsProvider
		want   string // "": allowed
	}{
		{"no certificate", nil, root, noConnection},
		{"another authority's", others.client("ana"), root, noConnection},
		{"by common name", clients.client("ana"), nobody, ""},
		{"by ARN", clients.client("somebody", arn+"ana"), nobody, ""},
		{"the ARN comes first", clients.client("ana", arn+"bob"), nobody, "User: " + arn + "bob is not authorized to perform: dynamodb:ListTables"},
		{"another URI does not count", clients.client("ana", "spiffe://there/ana"), nobody, ""},
		{"two URIs", clients.client("ana", arn+"ana", arn+"bob"), nobody, "UnrecognizedClientException"},
		{"another account", clients.client("ana", "arn:aws:iam::111111111111:user/ana"), nobody, "UnrecognizedClientException"},
		{"the root", clients.client("root", "arn:aws:iam::000000000000:root"), nobody, "UnrecognizedClientException"},
		{"nobody's", clients.client("carol"), nobody, "UnrecognizedClientException"},
		{"no name", clients.client(""), nobody, "UnrecognizedClientException"},
		{"not allowed", clients.client("bob"), nobody, "User: " + arn + "bob is not authorized to perform: dynamodb:ListTables"},
		{"signed", clients.client("bob"), root, ""},
		{"expired", &expired, nobody, noConnection},
		{"a server's", &ofServer, nobody, noConnection},
		{"an authority below", below.under(below.client("ana")), nobody, ""},
		{"one whose names are constrained", ofTeam.under(ofTeam.client("ana")), nobody, "UnrecognizedClientException"},
		{"one that is not to name users", ofNoUser.under(ofNoUser.client("ana", arn+"ana")), nobody, noConnection},
		{"signed wrongly", clients.client("ana"), wrong, "InvalidSignatureException"},
	} {
		_, err := s.list(ca, c.client, c.who)
		if c.want == noConnection && !connectionRefused(err) || c.want == "" && err != nil ||
			c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}

	// Another authority applies once the file is read.
	replaceFile(t, file, others.pem)
	s.later()
	if _, err := s.list(ca, clients.client("ana"), nobody); !connectionRefused(err) {
		t.Errorf("the old authority: %v", err)
	}
	if _, err := s.list(ca, others.client("ana"), nobody); err != nil {
		t.Errorf("the new authority: %v", err)
	}
}

// TestTLSFlags tests that invalid settings are rejected at the start.
func TestTLSFlags(t *testing.T) {
	ca, dir := newAuthority(t, "ca"), t.TempDir()
	files := tlsFlags{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem")}
	ca.server(&files, "server")
	empty := filepath.Join(dir, "empty.pem")
	replaceFile(t, empty, nil)
	for want, f := range map[string]tlsFlags{
		"--tls-client-ca needs --tls-cert and --tls-key": {clientCA: empty},
		"has no certificate in PEM":                      {cert: files.cert, key: files.key, clientCA: empty},
		"load --tls-client-ca":                           {cert: files.cert, key: files.key, clientCA: filepath.Join(dir, "missing")},
		"load --tls-cert and --tls-key":                  {cert: files.cert, key: empty},
	} {
		if _, err := f.open(slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// TestExpiredCertificate: the log says that a certificate has expired, which clients only report as an error of TLS.
func TestExpiredCertificate(t *testing.T) {
	dir := t.TempDir()
	files, text := tlsFlags{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem")}, new(bytes.Buffer)
	newAuthority(t, "authority").server(&files, "server") // valid for an hour
	c := &certificates{files: files, logger: slog.New(slog.NewTextHandler(text, nil)), now: time.Now}
	if err := c.load(); err != nil || text.Len() > 0 {
		t.Errorf("a valid certificate: %v, logged %q", err, text)
	}
	c.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	if err := c.load(); err != nil || !strings.Contains(text.String(), "not valid now") {
		t.Errorf("an expired certificate: %v, logged %q", err, text)
	}
}
