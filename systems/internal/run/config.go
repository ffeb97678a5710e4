package run

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/monotable/monotable/internal/httpguard"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/keyfile"
)

const (
	defaultAddr  = "127.0.0.1:8080"
	defaultData  = "./data"
	cursorKeyMin = 32
	// defaultRate is far above what a page needs.
	defaultRate = 50
	// servicesDir is the directory for services' keys in a data directory.
	servicesDir = "services"
)

// Config holds the settings from flags and environment.
type Config struct {
	Addr string

	Data, Durability, Endpoint, Region, Stage string
	Memory, AWS, CreateTables                 bool

	Issuer, IssuerKey string
	ClientIDs         []string
	DevIssuer         bool

	CursorKey, CursorKeyFile string
	Origins, Proxies         []string
	Timeout                  time.Duration
	Rate                     float64
	Workers                  bool
	LogLevel, LogFormat      string
	PublicURL                string
}

// Register adds the flags.
func (c *Config) Register(f *pflag.FlagSet) {
	f.StringVar(&c.Addr, "addr", defaultAddr, "address to listen on; port 0 picks a free one")
	f.StringVar(&c.PublicURL, "public-url", "", "`address` at which other devices reach this process, such as http://192.168.1.5:8080, or lan for this machine's; pages show it and sign guests in")
	f.StringVar(&c.Data, "data", defaultData, "data directory of the in-process database")
	f.BoolVar(&c.Memory, "memory", false, "keep the data in memory only; it is lost when the process ends")
	f.StringVar(&c.Durability, "durability", "sync", "durability of writes to --data: sync, interval or none")
	f.StringVar(&c.Endpoint, "endpoint", "", "URL of a DynamoDB API to use instead")
	f.BoolVar(&c.AWS, "aws", false, "use DynamoDB on AWS, configured by the environment")
	f.BoolVar(&c.CreateTables, "create-tables", false, "also create missing tables on AWS")
	f.StringVar(&c.Region, "region", "us-east-1", "AWS region")
	f.StringVar(&c.Stage, "stage", DefaultStage, "stage, for table names that contain it")
	c.RegisterAuth(f)
	f.StringVar(&c.CursorKey, "cursor-key", "", "key that encrypts cursors: at least 32 bytes, in hexadecimal or base64")
	f.StringVar(&c.CursorKeyFile, "cursor-key-file", "", "file with that key")
	f.StringSliceVar(&c.Origins, "cors-origin", nil, "`origin` whose web pages may call the API, or * for all; repeatable (default none)")
	f.StringSliceVar(&c.Proxies, "trusted-proxy", nil, "networks or addresses of trusted proxies, whose X-Forwarded-For is used")
	f.DurationVar(&c.Timeout, "timeout", 0, "request timeout (default 10s)")
	f.Float64Var(&c.Rate, "rate", defaultRate, "requests per second of one caller, with bursts of twice as many; 0 for no limit")
	f.BoolVar(&c.Workers, "workers", true, "run the workers, which follow the streams; --workers=false only serves requests and live updates")
	f.StringVar(&c.LogLevel, "log-level", "info", "log level: debug, info, warn or error")
	f.StringVar(&c.LogFormat, "log-format", "text", "log format: text or json")
}

// RegisterAuth adds the flags for authentication.
func (c *Config) RegisterAuth(f *pflag.FlagSet) {
	f.StringVar(&c.Issuer, "issuer", "", "URL of the user pool whose access tokens are accepted")
	f.StringSliceVar(&c.ClientIDs, "client-id", nil, "app clients of that user pool whose tokens are accepted")
	f.BoolVar(&c.DevIssuer, "dev-issuer", false, "accept tokens that anyone on this machine can sign: for development only")
	f.StringVar(&c.IssuerKey, "issuer-key", "", "file of keys to sign tokens with (created if missing), for the system's own log-in; --issuer is then this process's public address")
}

// validate reports mistakes that would otherwise only show up as rejected requests.
func (c *Config) validate() error {
	var faults []error
	refuse := func(when bool, form string, value any, want string) {
		if when {
			faults = append(faults, fmt.Errorf(form+": %s", value, want))
		}
	}
	if _, err := httpguard.New(nil, c.Origins); err != nil {
		faults = append(faults, fmt.Errorf("--cors-origin: %w", err))
	}
	refuse(c.Timeout < 0, "--timeout %v", c.Timeout, "want a positive duration, such as 10s")
	refuse(c.Rate < 0 || math.IsNaN(c.Rate) || math.IsInf(c.Rate, 0), "--rate %v", c.Rate, "want requests per second, or 0 for no limit")
	if c.IssuerKey == "" && c.Issuer != "" {
		u, err := url.Parse(c.Issuer)
		refuse(err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.HasSuffix(c.Issuer, "/"), "--issuer %s", c.Issuer,
			"want the tokens' iss, such as https://cognito-idp.us-east-1.amazonaws.com/us-east-1_EXAMPLE, without a trailing slash")
	}
	return errors.Join(faults...)
}

// errBoth is the error for specifying both a data directory and memory.
var errBoth = errors.New("--memory and --data cannot be combined: in memory, no directory is used")

// checkKept rejects combinations of flags in which one would be silently ignored.
func (c *Config) checkKept(flags *pflag.FlagSet) error {
	if c.Memory && flags.Changed("data") {
		return errBoth
	}
	return nil
}

// local reports whether the database is in this process.
func (c *Config) local(getenv func(string) string) bool {
	return c.Endpoint == "" && !c.onAWS(getenv)
}

// onAWS reports whether the database is DynamoDB on AWS.
func (c *Config) onAWS(getenv func(string) string) bool {
	return c.Endpoint == "" && (c.AWS || getenv("AWS_LAMBDA_FUNCTION_NAME") != "" || getenv("AWS_EXECUTION_ENV") != "")
}

// keyPath returns the path of a local database's key, or of the directory of keys for "". It returns "" in memory or with another
// database.
func (c *Config) keyPath(getenv func(string) string, name string) string {
	if c.Memory || !c.local(getenv) {
		return ""
	}
	return KeyPath(c.Data, name)
}

// KeyPath is the path of a service's key in a data directory.
func KeyPath(data, name string) string { return filepath.Join(data, servicesDir, name) }

// CursorKey is the file name of the key that seals cursors.
const CursorKey = "cursor.key"

// IssuerKeys is the file name of a system's signing keys.
func IssuerKeys(system string) string { return system + "-issuer.json" }

// cursorKey returns the key that seals cursors. madeUp means that it lasts only as long as this process.
func (c *Config) cursorKey(getenv func(string) string) (key []byte, madeUp bool, err error) {
	switch {
	case c.CursorKey != "":
		key, err = parseKey("--cursor-key", c.CursorKey)
		return key, false, err
	case c.CursorKeyFile != "":
		text, err := os.ReadFile(c.CursorKeyFile)
		if err != nil {
			return nil, false, fmt.Errorf("--cursor-key-file: %w", err)
		}
		key, err = parseKey("--cursor-key-file", string(text))
		return key, false, err
	case c.onAWS(getenv):
		return nil, false, errors.New("--cursor-key is required on AWS, where several processes continue each other's pages")
	}
	if path := c.keyPath(getenv, CursorKey); path != "" {
		key, err = KeptKey(path)
		return key, false, err
	}
	return newKey(), true, nil
}

// KeptKey returns the key in a file, and creates the file if it is missing.
func KeptKey(path string) ([]byte, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the path is the operator's
	if err == nil {
		return parseKey(path, string(text))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if text, err = keyfile.Make(path, []byte(hex.EncodeToString(newKey())+"\n")); err != nil {
		return nil, err
	}
	return parseKey(path, string(text))
}

func newKey() []byte {
	key := make([]byte, cursorKeyMin)
	_, _ = rand.Read(key) // never fails
	return key
}

func parseKey(from, text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	key, err := hex.DecodeString(text)
	if err != nil {
		key, err = base64.StdEncoding.DecodeString(text)
	}
	if err != nil || len(key) < cursorKeyMin {
		return nil, fmt.Errorf("%s: want a key of %d bytes or more, in hexadecimal or base64", from, cursorKeyMin)
	}
	return key, nil
}

// access returns whose tokens a system accepts. base is the address of this process.
func (c *Config) access(system string, getenv func(string) string, base string) (Access, error) {
	switch {
	case c.DevIssuer && (c.Issuer != "" || c.IssuerKey != ""):
		return Access{}, errors.New("--dev-issuer is for development and cannot be combined with --issuer or --issuer-key")
	case c.IssuerKey != "":
		if c.Issuer != "" {
			base = c.Issuer
		}
		return signedBy(auth.OpenIssuer(system, c.IssuerKey, base, nil))
	case c.DevIssuer:
		if path := c.keyPath(getenv, IssuerKeys(system)); path != "" {
			return signedBy(auth.OpenIssuer(system, path, base, nil))
		}
		return signedBy(auth.NewIssuer(system, base, nil))
	case c.Issuer == "" || len(c.ClientIDs) == 0:
		return Access{}, errors.New("no issuer of tokens: use --issuer and --client-id, or --dev-issuer for development")
	default:
		verifier, err := auth.NewVerifier(c.Issuer, c.ClientIDs, auth.NewRemote(c.Issuer, nil, nil), nil)
		return Access{Verifier: verifier}, err
	}
}

func signedBy(issuer *auth.Issuer, err error) (Access, error) {
	if err != nil {
		return Access{}, err
	}
	return accessOf(issuer), nil
}
