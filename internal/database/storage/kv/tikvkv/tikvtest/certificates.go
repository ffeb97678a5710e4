//go:build unix

package tikvtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// Files of WriteCertificates.
const (
	caFile   = "ca.pem"
	certFile = "cert.pem"
	keyFile  = "key.pem"
)

// WriteCertificates creates an authority and a certificate for 127.0.0.1, and writes ca.pem, cert.pem and key.pem to a
// directory.
func WriteCertificates(dir string) error {
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	ca, err := x509.CreateCertificate(rand.Reader, authority, authority, &signer.PublicKey, signer)
	if err != nil {
		return err
	}
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	cert, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "cluster"}, NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, authority, &own.PublicKey, signer)
	if err != nil {
		return err
	}
	key, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		return err
	}
	for name, block := range map[string]*pem.Block{
		caFile: {Type: "CERTIFICATE", Bytes: ca}, certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// prepareTLS creates the cluster's certificates, and uses them for requests to the placement driver.
func (c *Cluster) prepareTLS() error {
	if c.options.Proxy != nil {
		return errors.New("TLS and Proxy do not work together")
	}
	if err := WriteCertificates(c.dir); err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.file(certFile), c.file(keyFile))
	if err != nil {
		return err
	}
	ca, err := os.ReadFile(c.file(caFile))
	if err != nil {
		return err
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(ca)
	c.http.Transport = &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: authorities, MinVersion: tls.VersionTLS12}}
	return nil
}

// Certificates is the directory of the files of a cluster with TLS, as written by WriteCertificates.
func (c *Cluster) Certificates() string { return c.dir }

func (c *Cluster) file(name string) string { return filepath.Join(c.dir, name) }

// certificates are the options of an address with TLS.
func (c *Cluster) certificates() string {
	if !c.options.TLS {
		return ""
	}
	return "&" + url.Values{"ca": {c.file(caFile)}, "cert": {c.file(certFile)}, "key": {c.file(keyFile)}}.Encode()
}

// url is the URL of an address of the placement driver.
func (c *Cluster) url(address string) string {
	if c.options.TLS {
		return "https://" + address
	}
	return "http://" + address
}
