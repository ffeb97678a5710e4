//go:build tikv

package tikvkv_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/tikvkv"
	"github.com/monotable/monotable/internal/database/storage/kv/tikvkv/tikvtest"
)

// TestTLS runs a store in a cluster that accepts only TLS, from clients with a certificate of its authority. A node is killed
// and restarted meanwhile, and old versions are removed, so that all kinds of connections of the client library are used.
func TestTLS(t *testing.T) {
	c := tikvtest.New(t, tikvtest.Options{TLS: true})
	s, err := tikvkv.Open(t.Context(), c.Address("encrypted"), tikvkv.Options{Window: testWindow})
	if err != nil {
		t.Fatal(err)
	}
	put := func(value string) {
		t.Helper()
		key := []byte("key")
		err := s.Update(t.Context(), kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error {
			txn.Set(key, []byte(value))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(t.Context(), key); err != nil || string(got) != value {
			t.Fatalf("%q, %v; want %q", got, err, value)
		}
	}
	put("first")
	for node := range 3 {
		c.Kill(node)
		put("without a node")
		if err := c.Restart(node); err != nil {
			t.Fatal(err)
		}
		if err := c.AwaitHealthy(); err != nil {
			t.Fatal(err)
		}
		put("with all nodes")
	}
	if err := s.RemoveBefore(t.Context(), time.Minute); err != nil {
		t.Error(err)
	}
	rejects(t, c.Plain("encrypted"), "has a store open with ca="+c.Certificates())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	rejects(t, c.Plain("encrypted"), "if the cluster uses TLS")
}

// TestCertificatesRejected tests that a store does not open with missing certificates, or with ones that the cluster rejects,
// and that the error names the cause.
func TestCertificatesRejected(t *testing.T) {
	own, other := t.TempDir(), t.TempDir()
	for _, dir := range []string{own, other} {
		if err := tikvtest.WriteCertificates(dir); err != nil {
			t.Fatal(err)
		}
	}
	driver := listenTLS(t, own)
	for _, test := range []struct{ ca, cert, key, want string }{
		{"missing.pem", "own/cert.pem", "own/key.pem", "missing.pem: no such file"},
		{"own/key.pem", "own/cert.pem", "own/key.pem", "failed to append ca certs"},
		{"own/ca.pem", "own/cert.pem", "missing.pem", "missing.pem: no such file"},
		{"own/ca.pem", "own/cert.pem", "other/key.pem", "private key does not match"},
		{"other/ca.pem", "own/cert.pem", "own/key.pem", "certificate signed by unknown authority"},
		{"own/ca.pem", "other/cert.pem", "other/key.pem", "remote error: tls: "},
	} {
		place := strings.NewReplacer("own/", own+"/", "other/", other+"/").Replace
		rejects(t, "tikv://"+driver+"?ca="+place(test.ca)+"&cert="+place(test.cert)+"&key="+place(test.key), test.want)
	}
}

// listenTLS accepts connections from clients with certificates signed by the authority in a directory, and returns the
// address.
func listenTLS(t *testing.T, dir string) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(ca)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: authorities, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = conn.(*tls.Conn).HandshakeContext(t.Context()) // the client reports the error
			}()
		}
	}()
	return l.Addr().String()
}

func rejects(t *testing.T, address, want string) {
	t.Helper()
	s, err := tikvkv.Open(t.Context(), address, tikvkv.Options{})
	if err == nil {
		_ = s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", address, err, want)
	}
}
