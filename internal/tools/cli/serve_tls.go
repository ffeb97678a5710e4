package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

// certificateLook is the minimum time between two checks of the certificate files.
const certificateLook = time.Second

// tlsFlags configure HTTPS.
type tlsFlags struct{ cert, key, clientCA string }

func (f *tlsFlags) register(set *pflag.FlagSet) {
	set.StringVar(&f.cert, "tls-cert", "", "certificate file (PEM) for HTTPS; reloaded when it changes and on SIGHUP")
	set.StringVar(&f.key, "tls-key", "", "key file (PEM) of --tls-cert")
	set.StringVar(&f.clientCA, "tls-client-ca", "", "`FILE` with the CA certificates (PEM) of clients; clients must present a certificate, and unsigned requests are attributed to the user that it names")
}

// open returns the certificates for HTTPS, nil for plain HTTP.
func (f *tlsFlags) open(logger *slog.Logger) (*certificates, error) {
	if f.cert == "" {
		if f.clientCA != "" {
			return nil, errors.New("--tls-client-ca needs --tls-cert and --tls-key")
		}
		return nil, nil //nolint:nilnil // no TLS is a valid answer
	}
	c := &certificates{files: *f, logger: logger, now: time.Now}
	c.stamps = c.look()
	return c, c.load()
}

// certificates are the server's certificate and the authorities of the clients' certificates, as currently in their
// files. Existing connections keep those with which they started.
type certificates struct {
	files   tlsFlags
	logger  *slog.Logger
	now     func() time.Time
	current atomic.Pointer[tls.Config]

	mu     sync.Mutex // held while files are checked
	looked time.Time
	stamps [3]os.FileInfo // of the files when they were last read, whether valid or not
}

// config is the listener's configuration: each handshake gets the current certificates.
func (c *certificates) config() *tls.Config {
	config := c.current.Load().Clone()
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		c.reloadIfChanged()
		return c.current.Load(), nil
	}
	return config
}

// load reads the files. If they are unusable, the previous certificates stay.
func (c *certificates) load() error {
	certificate, err := tls.LoadX509KeyPair(c.files.cert, c.files.key)
	if err != nil {
		return fmt.Errorf("load --tls-cert and --tls-key: %w", err)
	}
	if leaf, now := certificate.Leaf, c.now(); now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		c.logger.Warn("the certificate is not valid now: clients reject it", "file", c.files.cert, "not_before", leaf.NotBefore, "not_after", leaf.NotAfter)
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{certificate},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2", "http/1.1"},
	}
	if c.files.clientCA != "" {
		text, err := os.ReadFile(c.files.clientCA)
		if err != nil {
			return fmt.Errorf("load --tls-client-ca: %w", err)
		}
		config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		// A resumed session would not be verified against new certificates.
		config.SessionTicketsDisabled = true
		if !config.ClientCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("load --tls-client-ca: %s has no certificate in PEM", c.files.clientCA)
		}
	}
	c.current.Store(config)
	return nil
}

// reloadIfChanged reads the files if they have changed since they were last read, unless they have just been checked.
func (c *certificates) reloadIfChanged() {
	if !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	now := c.now()
	if now.Sub(c.looked) < certificateLook {
		return
	}
	c.looked = now
	if stamps := c.look(); !same(stamps, c.stamps) {
		c.stamps = stamps
		c.reload()
	}
}

// reloadOnHangup reads the files, whether they have changed or not.
func (c *certificates) reloadOnHangup(context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stamps = c.look()
	c.reload()
}

func (c *certificates) reload() {
	if err := c.load(); err != nil {
		c.logger.Error("cannot load the certificates; keeping the previous ones", "error", err)
		return
	}
	c.logger.Info("reloaded the certificates", "file", c.files.cert)
}

// look returns the current state of the files; nil for a missing one.
func (c *certificates) look() (stamps [3]os.FileInfo) {
	for i, name := range []string{c.files.cert, c.files.key, c.files.clientCA} {
		if name != "" {
			stamps[i], _ = os.Stat(name)
		}
	}
	return stamps
}

func same(a, b [3]os.FileInfo) bool {
	for i := range a {
		switch {
		case a[i] == nil || b[i] == nil:
			if a[i] != b[i] {
				return false
			}
		case !os.SameFile(a[i], b[i]) || a[i].Size() != b[i].Size() || !a[i].ModTime().Equal(b[i].ModTime()):
			return false
		}
	}
	return true
}

// atHangup calls the functions whenever the process gets SIGHUP, until stop is called.
func atHangup(ctx context.Context, todo ...func(context.Context)) (stop func()) {
	if len(todo) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
			}
			for _, do := range todo {
				do(ctx)
			}
		}
	}()
	return func() {
		signal.Stop(hangups)
		cancel()
		<-done
	}
}
