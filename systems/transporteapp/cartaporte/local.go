package cartaporte

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"sync"
	"time"
)

// Leyenda is in every document that Local stamps.
const Leyenda = "PRUEBA, sin validez fiscal"

// The identity of Local.
const (
	// LocalSerial looks like a certificate number but belongs to no certificate.
	LocalSerial = "00000000000000000000"
	// LocalRFC is a test taxpayer of the tax office.
	LocalRFC = "EKU9003173C9"
)

const (
	keyBits  = 2048
	lifetime = 10 * 365 * 24 * time.Hour
)

// centro is Mexico's central time, the time zone of all stamps. It has had no daylight saving time since 2022.
var centro = time.FixedZone("Zona Centro", -6*60*60)

// Local is a PAC for development and tests. It creates a key and a certificate on first use, and uses them for the company's seal
// and for the PAC's stamp: RSA with SHA-256 over its own original string (Original), which is not the tax office's. The UUID is
// derived from Referencia and the document, so repeating a request yields the same stamp.
type Local struct {
	now     func() time.Time
	created func() (*signer, error)
}

type signer struct {
	key         *rsa.PrivateKey
	certificate string // DER in base 64
}

// NewLocal returns a Local with a clock.
func NewLocal(now func() time.Time) *Local {
	return &Local{now: now, created: sync.OnceValues(func() (*signer, error) { return newSigner(now()) })}
}

func newSigner(now time.Time) (*signer, error) {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: Leyenda, Organization: []string{Leyenda}},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(lifetime), KeyUsage: x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &signer{key: key, certificate: base64.StdEncoding.EncodeToString(der)}, nil
}

func (s *signer) sign(text string) (string, error) {
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, s.key, crypto.SHA256, sum[:])
	return base64.StdEncoding.EncodeToString(signature), err
}

// Timbrar implements PAC.
func (l *Local) Timbrar(ctx context.Context, in Solicitud) (Timbre, error) {
	if err := ctx.Err(); err != nil {
		return Timbre{}, err
	}
	s, err := l.created()
	if err != nil {
		return Timbre{}, fmt.Errorf("make a test certificate: %w", err)
	}
	c := *in.Comprobante
	c.NoCertificado, c.Certificado = LocalSerial, s.certificate
	bare, err := c.XML()
	if err != nil {
		return Timbre{}, err
	}
	original, err := Original(bare)
	if err != nil {
		return Timbre{}, err
	}
	if c.Sello, err = s.sign(original); err != nil {
		return Timbre{}, err
	}
	out := Timbre{
		UUID: testUUID(in.Referencia, original), FechaTimbrado: l.now().UTC().Truncate(time.Second), RfcProvCertif: LocalRFC,
		NoCertificadoSAT: LocalSerial, Prueba: true,
	}
	stamp := &xmlTimbre{
		SpaceTFD: spaceTFD, SchemaLocation: schemaTFD, Version: versionTFD, UUID: out.UUID,
		FechaTimbrado: out.FechaTimbrado.In(centro).Format(layout), RfcProvCertif: out.RfcProvCertif, Leyenda: Leyenda, SelloCFD: c.Sello,
		NoCertificadoSAT: out.NoCertificadoSAT,
	}
	if stamp.SelloSAT, err = s.sign(stamp.original()); err != nil {
		return Timbre{}, err
	}
	c.Complemento.Timbre = stamp
	out.XML, err = c.XML()
	return out, err
}

// Muestra adds a stamp for sample data, which says that it is a test and seals nothing.
func (c *Comprobante) Muestra(uuid, at string) {
	c.Complemento.Timbre = &xmlTimbre{
		SpaceTFD: spaceTFD, SchemaLocation: schemaTFD, Version: versionTFD, UUID: uuid, FechaTimbrado: at, RfcProvCertif: LocalRFC,
		Leyenda: Leyenda, NoCertificadoSAT: LocalSerial,
	}
}

// Cancelar implements PAC: it confirms every request that has a reason.
func (l *Local) Cancelar(ctx context.Context, in Cancelacion) error {
	if !MotivoCancelacion.Tiene(in.Motivo) {
		return fmt.Errorf("%w: no such reason", ErrRechazado)
	}
	return ctx.Err()
}

// testUUID is the same for the same reference and document.
func testUUID(reference, original string) string {
	const version, variant = 8, 2 // RFC 9562: custom
	b := sha256.Sum256([]byte(reference + "\x00" + original))
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | variant<<6
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// original returns the string that a stamp signs, in the tax office's order.
func (t *xmlTimbre) original() string {
	return "||" + strings.Join([]string{t.Version, t.UUID, t.FechaTimbrado, t.RfcProvCertif, t.Leyenda, t.SelloCFD, t.NoCertificadoSAT}, "|") + "||"
}

// Original returns the string that Local seals: all attribute values in document order, with whitespace collapsed, except
// namespaces, seal, certificate and stamp.
func Original(document []byte) (string, error) {
	decoder := xml.NewDecoder(bytes.NewReader(document))
	values := []string{""}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return "|" + strings.Join(values, "|") + "||", nil
		}
		if err != nil {
			return "", fmt.Errorf("read the document: %w", err)
		}
		element, ok := token.(xml.StartElement)
		if !ok || element.Name.Space == spaceTFD {
			continue
		}
		for _, a := range element.Attr {
			switch {
			case a.Name.Space == "xmlns", a.Name.Space == spaceXSI:
			case a.Name.Local == "Sello", a.Name.Local == "Certificado":
			default:
				values = append(values, strings.Join(strings.Fields(a.Value), " "))
			}
		}
	}
}
