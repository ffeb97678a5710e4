//go:build tikv

package tikvkv_test

import (
	"strings"
	"testing"

	"github.com/pingcap/log"
	"go.uber.org/zap"

	"github.com/monotable/monotable/internal/database/storage/kv/tikvkv"
)

// TestLibraryLogLevelExists tests that the client library finds a log level when its log is off, because it asks for it while it retries.
func TestLibraryLogLevelExists(t *testing.T) {
	tikvkv.Quiet()
	if level := log.GetLevel(); level != zap.FatalLevel {
		t.Errorf("the library logs at level %v", level)
	}
}

func TestParseAddress(t *testing.T) {
	for address, want := range map[string]string{
		"tikv://pd1":                           "",
		"tikv://pd1,pd2:2380/?prefix=shop":     "",
		"tikv://pd1:2379?prefix=shop-1&gc=off": "",
		"tikv://":                              "is not a host",
		"tikv://pd1,,pd2":                      "is not a host",
		"tikv://user@pd1":                      "is not a host",
		"tikv://pd1/database":                  "is not a host",
		"tikv://pd1?prefix=":                   "unknown option",
		"tikv://pd1?prefix=Shop/1":             "unknown option",
		"tikv://pd1?keyspace=a":                "unknown option",
		"tikv://pd1?gc=maybe":                  "unknown option",
		"tikv://pd1?ca=a&cert=b&key=c":         "",
		"tikv://pd1?ca=a":                      "TLS needs ca=FILE",
		"tikv://pd1?cert=b&key=c":              "TLS needs ca=FILE",
		"tikv://pd1?sslcert=b":                 "unknown option",
		"postgres://db1/tables":                "starts with tikv://",
	} {
		_, err := tikvkv.ParseAddress(address)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}
