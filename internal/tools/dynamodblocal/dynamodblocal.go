// Package dynamodblocal serves databases the way DynamoDB Local does, so that programs written for it run unchanged.
//
// # Model
//
// A request belongs to the database of its access key and Region, or to the shared database. The first request for a
// database opens it. It is in memory, or in a directory named like DynamoDB Local's file:
//
//	shared-local-instance.monotable   for -sharedDb
//	ACCESSKEY_REGION.monotable        otherwise
//
// Signatures are not checked. As in DynamoDB Local, requests without an access key get a MissingAuthenticationToken,
// access keys with characters other than letters and digits an UnrecognizedClientException, every host name is accepted,
// and ARNs are in the Region ddblocal.
//
// # Invariants
//
//	L1  At most databasesMax databases are open, whatever clients send, because each is a store with its own goroutines.
//	L2  An access key or Region is only used in a path or a response if it consists of letters, digits and hyphens.
//
// A Server can serve any number of concurrent requests. Close is called once, when no request is in progress.
package dynamodblocal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/server"
)

// Region is the one in the ARNs of DynamoDB Local.
const Region = "ddblocal"

const (
	databasesMax = 128

	extension = ".monotable"
	shared    = "shared-local-instance"

	// The error types and messages of DynamoDB Local 3.3.1.
	missingToken = `{"__type":"com.amazonaws.dynamodb.v20120810#MissingAuthenticationToken",` +
		`"Message":"Request must contain either a valid (registered) AWS access key ID or X.509 certificate."}`
	unknownKey = `{"__type":"com.amazonaws.dynamodb.v20120810#UnrecognizedClientException",` +
		`"message":"The Access Key ID or security token is invalid."}`
	tooMany = `{"__type":"com.amazonaws.dynamodb.v20120810#LimitExceededException",` +
		`"message":"128 databases are open, one for each access key and Region: use fewer of them, or -sharedDb"}`
)

var errTooMany = errors.New("too many databases")

var (
	keyPattern    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]{1,128}$`) })
	regionPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`) })
)

// IsRegion reports whether a text can be the name of a Region, real or made up.
func IsRegion(name string) bool { return regionPattern().MatchString(name) }

// Options of a Server.
type Options struct {
	// SharedDB uses one database for all access keys and Regions.
	SharedDB bool
	// Path is the directory of the databases; if empty, they are in memory.
	Path string
	// Optimize compacts each database when it is opened.
	Optimize bool
	// Database has the options of the databases. Its Region is set to ddblocal.
	Database monotable.Options
}

// Server is an http.Handler.
type Server struct {
	options Options

	mu        sync.Mutex
	databases map[string]*database
}

// database is open, or being opened.
type database struct {
	open func() (*monotable.DB, error) // opens it once
}

// New returns a server. With Options.SharedDB the database is opened immediately, so errors of its directory are returned
// here.
func New(options Options) (*Server, error) {
	options.Database.Region = Region
	if options.Database.Logger == nil {
		options.Database.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{options: options, databases: map[string]*database{}}
	if options.SharedDB {
		if _, err := s.database(shared); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Close closes the databases.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var faults []error
	for _, d := range s.databases {
		if db, err := d.open(); err == nil {
			faults = append(faults, db.Close())
		}
	}
	return errors.Join(faults...)
}

// ServeHTTP passes the request to its database.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status, text, ok := server.Probe(r.URL.Path, func() error { return nil }); ok && r.Method == http.MethodGet {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
		return
	}
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		preflight(w, r, s.options.Database.CORSOrigins)
		return
	}
	key, region, ok := credential(r)
	if !ok {
		refuse(w, missingToken)
		return
	}
	if !keyPattern().MatchString(key) || !IsRegion(region) {
		refuse(w, unknownKey)
		return
	}
	name := shared
	if !s.options.SharedDB {
		name = key + "_" + region
	}
	db, err := s.database(name)
	switch {
	case errors.Is(err, errTooMany):
		refuse(w, tooMany)
		return
	case err != nil:
		s.options.Database.Logger.ErrorContext(r.Context(), "database not opened", "name", name, "error", err)
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	r.Host = "localhost" // DynamoDB Local answers to every name
	db.Handler().ServeHTTP(w, r)
}

// database returns the named database, and opens it if necessary.
func (s *Server) database(name string) (*monotable.DB, error) {
	s.mu.Lock()
	d := s.databases[name]
	if d == nil {
		if len(s.databases) >= databasesMax {
			s.mu.Unlock()
			return nil, errTooMany
		}
		d = &database{open: sync.OnceValues(func() (*monotable.DB, error) { return s.openDatabase(name) })}
		s.databases[name] = d
	}
	s.mu.Unlock()
	db, err := d.open()
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.databases[name] == d { // the next request tries again
			delete(s.databases, name)
		}
	}
	return db, err
}

func (s *Server) openDatabase(name string) (*monotable.DB, error) {
	options := s.options.Database
	if s.options.Path == "" {
		return monotable.OpenMemory(&options)
	}
	dir := filepath.Join(s.options.Path, name+extension)
	db, err := monotable.Open(dir, &options)
	if errors.Is(err, monotable.ErrLocked) {
		return nil, fmt.Errorf("%s is open in another process: stop that process, or use another -dbPath", dir)
	}
	if err == nil && s.options.Optimize {
		if err := db.Compact(context.Background()); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, err
}

// credential returns the access key and the Region that a request is signed with: in its header, or in the query of a
// presigned URL.
func credential(r *http.Request) (key, region string, ok bool) {
	_, scope, ok := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	if !ok {
		scope = r.URL.Query().Get("X-Amz-Credential")
	}
	scope, _, _ = strings.Cut(scope, ",")
	parts := strings.Split(strings.TrimSpace(scope), "/") // KEY/DATE/REGION/SERVICE/aws4_request
	if len(parts) != 5 {
		return "", "", false
	}
	return parts[0], parts[2], true
}

// preflight tells a browser whether pages of an origin may send requests. Preflight requests are unsigned, and the answer
// is the same for every database.
func preflight(w http.ResponseWriter, r *http.Request, origins []string) {
	origin := r.Header.Get("Origin")
	for _, allowed := range origins {
		if allowed == "*" || allowed == origin {
			h := w.Header()
			h.Set("Access-Control-Allow-Origin", cmp.Or(origin, "*"))
			h.Set("Access-Control-Allow-Methods", http.MethodPost)
			h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
			h.Set("Access-Control-Max-Age", "3600")
			h.Add("Vary", "Origin")
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	w.WriteHeader(http.StatusForbidden)
}

func refuse(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write([]byte(body))
}
