//go:build tikv

package tikvkv

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/tikv/client-go/v2/config"
)

// certificates are the files (PEM) for TLS to a cluster: the authority that signed the cluster's certificates, and this
// process's own certificate with its key. The cluster verifies the certificate, so TLS requires one. New connections use a
// renewed certificate.
type certificates struct{ ca, cert, key string }

// complete rejects an incomplete set of files.
func (c certificates) complete() error {
	if (c == certificates{}) || c.ca != "" && c.cert != "" && c.key != "" {
		return nil
	}
	return errors.New("TLS needs ca=FILE (of the authority that has signed the cluster's certificates), cert=FILE and key=FILE (of this client's certificate)")
}

func (c certificates) security() config.Security { return config.NewSecurity(c.ca, c.cert, c.key, nil) }

// handshakeTime is the timeout for a placement driver to accept the certificate.
const handshakeTime = 5 * time.Second

// check reads the files and tries them with the first reachable placement driver. The client library would retry without
// reporting the reason.
func (c certificates) check(ctx context.Context, drivers []string) error {
	if (c == certificates{}) {
		return nil
	}
	security := c.security()
	files, err := security.ToTLSConfig()
	if err != nil {
		return fmt.Errorf("the files of ca=%s, cert=%s and key=%s: %w", c.ca, c.cert, c.key, err)
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	for _, driver := range drivers {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", driver)
		if err != nil {
			continue // the client library retries for longer
		}
		host, _, _ := net.SplitHostPort(driver)
		// In TLS 1.3 the handshake ends before the driver has checked the client's certificate.
		tried := &tls.Config{RootCAs: files.RootCAs, GetClientCertificate: files.GetClientCertificate, ServerName: host, MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12}
		err = tls.Client(conn, tried).HandshakeContext(ctx)
		_ = conn.Close()
		if err != nil {
			return fmt.Errorf("TLS with ca=%s and cert=%s: %w", c.ca, c.cert, err)
		}
		return nil
	}
	return nil
}

// inUse are the certificates of the process's open stores: the client library has a single configuration for all of its
// connections.
var inUse struct {
	sync.Mutex
	certificates
	stores int
}

// use makes the client library use the certificates until release is called.
func (c certificates) use() (release func(), err error) {
	inUse.Lock()
	defer inUse.Unlock()
	if inUse.stores > 0 && inUse.certificates != c {
		return nil, fmt.Errorf("a process can use TiKV with one set of certificates at a time, and has a store open %v: close that store first", inUse.certificates)
	}
	if inUse.stores == 0 {
		config.UpdateGlobal(func(all *config.Config) { all.Security = c.security() })
	}
	inUse.certificates = c
	inUse.stores++
	return sync.OnceFunc(func() {
		inUse.Lock()
		defer inUse.Unlock()
		inUse.stores--
	}), nil
}

func (c certificates) String() string {
	if (c == certificates{}) {
		return "without TLS"
	}
	return fmt.Sprintf("with ca=%s, cert=%s and key=%s", c.ca, c.cert, c.key)
}
