// Package cartaportetest verifies documents stamped by the test PAC. It is safe for concurrent use.
package cartaportetest

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"

	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
)

// ErrSeal is the error for a document whose seal or stamp belongs to another document.
var ErrSeal = errors.New("the seal is not of this document")

// Verify checks that the seal and the stamp of a document of cartaporte.Local belong to it.
func Verify(document []byte) error {
	var read struct {
		Sello       string `xml:"Sello,attr"`
		Certificado string `xml:"Certificado,attr"`
		Complemento struct {
			Timbre struct {
				Version          string `xml:"Version,attr"`
				UUID             string `xml:"UUID,attr"`
				FechaTimbrado    string `xml:"FechaTimbrado,attr"`
				RfcProvCertif    string `xml:"RfcProvCertif,attr"`
				Leyenda          string `xml:"Leyenda,attr"`
				SelloCFD         string `xml:"SelloCFD,attr"`
				NoCertificadoSAT string `xml:"NoCertificadoSAT,attr"`
				SelloSAT         string `xml:"SelloSAT,attr"`
			} `xml:"TimbreFiscalDigital"`
		} `xml:"Complemento"`
	}
	if err := xml.Unmarshal(document, &read); err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	der, err := base64.StdEncoding.DecodeString(read.Certificado)
	if err != nil {
		return fmt.Errorf("read the certificate: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return fmt.Errorf("read the certificate: %w", err)
	}
	original, err := cartaporte.Original(document)
	if err != nil {
		return err
	}
	t := read.Complemento.Timbre
	if t.SelloCFD != read.Sello {
		return ErrSeal
	}
	stamped := "||" + strings.Join([]string{t.Version, t.UUID, t.FechaTimbrado, t.RfcProvCertif, t.Leyenda, t.SelloCFD, t.NoCertificadoSAT}, "|") + "||"
	return errors.Join(verify(certificate, original, read.Sello), verify(certificate, stamped, t.SelloSAT))
}

func verify(certificate *x509.Certificate, text, seal string) error {
	signature, err := base64.StdEncoding.DecodeString(seal)
	if err != nil || certificate.CheckSignature(x509.SHA256WithRSA, []byte(text), signature) != nil {
		return ErrSeal
	}
	return nil
}
