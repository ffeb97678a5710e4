package cli

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/monotable/monotable"
)

// The root's access key, in the environment.
const (
	rootKeyVariable    = "MONOTABLE_ROOT_ACCESS_KEY_ID"
	rootSecretVariable = "MONOTABLE_ROOT_SECRET_ACCESS_KEY" //nolint:gosec // the name of it
)

const (
	authRequired = "required"
	authOff      = "off"
)

// masterKeyBytes is the length of a master key, and masterKeyWait the timeout of a command that prints one.
const (
	masterKeyBytes = 32
	masterKeyWait  = 30 * time.Second
)

// authFlags are the flags that say who may call.
type authFlags struct {
	mode      string
	file      string
	clockSkew time.Duration
}

func (a *authFlags) register(set *pflag.FlagSet) {
	set.StringVar(&a.mode, "auth", "", "required (requests must be signed with a valid access key) or off (default off on loopback, required elsewhere)")
	set.StringVar(&a.file, "iam", "", "`FILE` that declares users, roles and identity providers, instead of monotable iam; reloaded on SIGHUP")
	set.DurationVar(&a.clockSkew, "clock-skew", 5*time.Minute, "maximum clock skew of clients")
}

// required reports whether requests to an address must be signed.
func (a *authFlags) required(addr string) (bool, error) {
	switch a.mode {
	case "":
		return !isLoopback(addr), nil
	case authRequired:
		return true, nil
	case authOff:
		return false, nil
	default:
		return false, fmt.Errorf("--auth %q: want required or off", a.mode)
	}
}

func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// options are the database's options.
func (a *authFlags) options(env Environment, addr string) (auth *monotable.Auth, err error) {
	auth = &monotable.Auth{
		File: a.file, ClockSkew: a.clockSkew,
		RootAccessKeyID: env.Getenv(rootKeyVariable), RootSecretAccessKey: env.Getenv(rootSecretVariable),
	}
	if a.clockSkew <= 0 {
		return nil, fmt.Errorf("--clock-skew %v: want more than 0", a.clockSkew)
	}
	if (auth.RootAccessKeyID == "") != (auth.RootSecretAccessKey == "") {
		return nil, fmt.Errorf("%s and %s: set both or neither", rootKeyVariable, rootSecretVariable)
	}
	auth.Required, err = a.required(addr)
	return auth, err
}

// checkAddress rejects unsigned requests at an address that turned out not to be loopback.
func (a *authFlags) checkAddress(auth *monotable.Auth, addr net.Addr, logger *slog.Logger) error {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || tcp.IP.IsLoopback() || auth.Required {
		return nil
	}
	if a.mode != authOff {
		return fmt.Errorf("%v is not a loopback address: use --auth required, or --auth off to serve everyone who can reach it", addr)
	}
	logger.Warn("listening beyond loopback with --auth off: anyone who can reach this address can read and write everything", "addr", addr)
	return nil
}

// reload reads the file of --iam again.
func (a *authFlags) reload(ctx context.Context, db *monotable.DB, logger *slog.Logger) {
	if err := db.ReloadIAM(ctx); err != nil {
		logger.Error("cannot load the --iam file; keeping the previous one", "error", err)
		return
	}
	logger.Info("reloaded the --iam file", "file", a.file)
}

// masterKeyFlags say where to find the key that seals the secrets of access keys, and the keys of encrypted
// files.
type masterKeyFlags struct{ current, previous string }

func (m *masterKeyFlags) register(set *pflag.FlagSet) {
	set.StringVar(&m.current, "master-key", "", "source of the key that encrypts the secrets of access keys and the keys of encrypted files, 32 bytes in base64 or hexadecimal: file:PATH, env:NAME or command:COMMAND (default none: secrets are stored unencrypted in the data directory)")
	set.StringVar(&m.previous, "previous-master-key", "", "source of the key that --master-key replaces; needed once")
}

// registerCurrent is register for commands that only read what is encrypted.
func (m *masterKeyFlags) registerCurrent(set *pflag.FlagSet) {
	set.StringVar(&m.current, "master-key", "", "source of the master key of an encrypted directory, as for serve; not needed while a server has the directory open")
}

// masterKeys are nil if no flag says where they are.
type masterKeys struct{ current, previous []byte }

func (m *masterKeyFlags) read(ctx context.Context, env Environment) (keys masterKeys, err error) {
	if keys.current, err = readMasterKey(ctx, env, m.current); err != nil {
		return masterKeys{}, fmt.Errorf("--master-key: %w", err)
	}
	if keys.previous, err = readMasterKey(ctx, env, m.previous); err != nil {
		return masterKeys{}, fmt.Errorf("--previous-master-key: %w", err)
	}
	if keys.current == nil && keys.previous != nil {
		return masterKeys{}, errors.New("--previous-master-key needs --master-key")
	}
	return keys, nil
}

// readMasterKey reads a key from its source; nil if there is none. No error shows what was read.
func readMasterKey(ctx context.Context, env Environment, source string) ([]byte, error) {
	if source == "" {
		return nil, nil //nolint:nilnil // there may be none
	}
	kind, where, _ := strings.Cut(source, ":")
	var text string
	switch kind {
	case "file":
		data, err := os.ReadFile(where)
		if err != nil {
			return nil, err
		}
		text = string(data)
	case "env":
		if text = env.Getenv(where); text == "" {
			return nil, fmt.Errorf("the environment variable %s is not set", where)
		}
	case "command":
		ctx, cancel := context.WithTimeout(ctx, masterKeyWait)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-c", where) //nolint:gosec // the operator's own command
		cmd.Stderr = env.Stderr
		data, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("command %q: %w", where, err)
		}
		text = string(data)
	default:
		return nil, errors.New("want file:PATH, env:NAME or command:COMMAND")
	}
	text = strings.TrimSpace(text)
	for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.StdEncoding.DecodeString} {
		if key, err := decode(text); err == nil && len(key) == masterKeyBytes {
			return key, nil
		}
	}
	return nil, fmt.Errorf("%s does not contain %d bytes in base64 or hexadecimal: create a key with openssl rand -base64 %d", kind, masterKeyBytes, masterKeyBytes)
}
