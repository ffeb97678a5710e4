package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/ratelimit"
	"github.com/monotable/monotable/systems/internal/system"
	"github.com/monotable/monotable/web"
)

// DefaultStage is the stage if none is set.
const DefaultStage = "dev"

// Options of a Host. Database, CursorKey and Access are required.
type Options struct {
	Database  *Database
	CursorKey []byte
	// Access says whose tokens each system accepts, by the system's name.
	Access map[string]Access
	// CreateTables creates missing tables in any database, not only the process's own.
	CreateTables bool
	Stage        string
	Logger       *slog.Logger
	// Origins are the web origins that may call; "*" allows all.
	Origins []string
	// Admit checks each request first; its error becomes the response. Nil admits all requests.
	Admit func(*http.Request) error
	// Proxies are the networks and addresses of trusted proxies.
	Proxies []string
	Timeout time.Duration
	// Rate is the limit of requests per second and caller; 0 is unlimited.
	Rate   float64
	Clock  func() time.Time
	Getenv func(string) string
	// NoWorkers leaves workers to other processes, and all streams except those that every process consumes.
	NoWorkers bool
	// Dir is the directory for the systems' files, each below the system's name; "" means none.
	Dir string
	// PublicURL is the address at which others reach this process, such as http://192.168.1.5:8080; "" if not set.
	PublicURL string
	// Listed means that the caller adds a page at / that lists the systems.
	Listed bool
	// Tokens is the path at which the caller signs tokens for anyone; "" if it does not.
	Tokens string
	// AtRoot serves a host's only system without its name as prefix.
	AtRoot bool
}

// Host has open systems, ready to be served.
type Host struct {
	mux      *http.ServeMux
	services map[string]*system.Service
	issuers  map[string]*auth.Issuer // of systems whose tokens are signed here
	order    []string
	workers  []system.Worker
	logger   *slog.Logger
	metrics  *api.Metrics
	admit    func(*http.Request) error // nil admits all
	restarts *prometheus.CounterVec
	drain    func()
}

// NewHost opens systems.
func NewHost(ctx context.Context, o Options, systems ...system.System) (*Host, error) {
	o = o.withDefaults()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	draining := make(chan struct{})
	h := &Host{
		mux: http.NewServeMux(), services: map[string]*system.Service{}, issuers: map[string]*auth.Issuer{}, logger: o.Logger, admit: o.Admit,
		drain:    sync.OnceFunc(func() { close(draining) }),
		restarts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "worker_restarts_total", Help: "Failed runs of workers."}, []string{"worker"}),
	}
	registry.MustRegister(h.restarts)
	h.metrics = api.NewMetrics(registry)
	h.registerProcessHandlers(o, registry)
	for _, s := range systems {
		if err := h.open(ctx, o, s, draining); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", s.Name, err), h.Close())
		}
	}
	return h, nil
}

// registerProcessHandlers mounts the handlers that belong to no system.
func (h *Host) registerProcessHandlers(o Options, registry *prometheus.Registry) {
	h.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	h.Handle("GET /health", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"status":"ok"}` + "\n"))
	}))
	if o.AtRoot {
		return
	}
	h.mux.Handle("/", api.WrapProcess(api.Unmatched, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.Complete(r.Context(), problem.New(http.StatusNotFound, "", "this path does not exist")).Write(w)
	}), h.logger, h.metrics))
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Stage == "" {
		o.Stage = DefaultStage
	}
	return o
}

// open opens one system and mounts it.
func (h *Host) open(ctx context.Context, o Options, s system.System, draining <-chan struct{}) error {
	if err := s.Validate(); err != nil {
		return err
	}
	if h.services[s.Name] != nil {
		return errors.New("there are two systems with that name")
	}
	access, err := o.accessTo(s.Name)
	if err != nil {
		return err
	}
	proxies, err := api.Networks(o.Proxies)
	if err != nil {
		return fmt.Errorf("--trusted-proxy: %w", err)
	}
	create := o.CreateTables || o.Database.Own
	tables := s.Tables(o.Stage)
	if create {
		if err := EnsureTables(ctx, o.Database.DynamoDB, tables); err != nil {
			return o.Database.unreachable(err)
		}
	}
	logger := o.Logger.With("system", s.Name)
	prefix := "/" + s.Name
	if o.AtRoot {
		prefix = ""
	}
	service, err := s.Open(ctx, h.deps(o, s.Name, prefix, access.Issuer, logger))
	if err != nil {
		return err
	}
	h.services[s.Name] = service
	h.order = append(h.order, s.Name)
	var limiter *ratelimit.Limiter
	if o.Rate > 0 {
		limiter = ratelimit.New(o.Rate, int(math.Ceil(2*o.Rate)), ratelimit.DefaultCapacity, o.Clock)
	}
	a, err := api.New(api.Options{
		Name: s.Name, Title: s.Title, About: s.About, Version: s.Version, Prefix: prefix, Page: cmp.Or(service.Front, o.page(s.Name, "", service.Page)), Docs: o.docs(s), Examples: s.Examples, Rules: s.Rules, Words: s.Words,
		Verifier: admitting{access.Verifier, service.Admit}, Ready: ready(o.Database.DynamoDB, tables), Logger: o.Logger, Metrics: h.metrics,
		Origins: o.Origins, Proxies: proxies, Timeout: o.Timeout, Limiter: limiter, Draining: draining, Acts: service.Acts, Staff: s.AdminGroup, Clock: o.Clock,
	})
	if err != nil {
		return err
	}
	if service.Register != nil {
		service.Register(a)
	}
	service.Personal.Register(a)
	o.mount(a, s.Name, service)
	h.mux.Handle(prefix+"/", a)
	if access.Issuer != nil {
		h.issuers[s.Name] = access.Issuer
		access.Issuer.Register(h)
	}
	streams := service.Streams
	if o.NoWorkers {
		streams = ofEveryProcess(streams)
	} else {
		for _, w := range service.Workers {
			w.Name = s.Name + "/" + w.Name
			h.workers = append(h.workers, w)
		}
	}
	if !o.NoWorkers {
		for _, schedule := range service.Schedules {
			h.workers = append(h.workers, scheduled(s.Name, schedule))
		}
	}
	h.workers = append(h.workers, followers(o.Database, s.Name, streams, create, logger)...)
	return nil
}

// deps returns the dependencies with which a system is opened.
func (h *Host) deps(o Options, name, prefix string, issuer *auth.Issuer, logger *slog.Logger) system.Deps {
	d := system.Deps{
		DynamoDB: o.Database.itemClient(), Stage: o.Stage, CursorKey: o.CursorKey, Observe: h.metrics.Observer(name),
		Clock: o.Clock, Issuer: issuer, Logger: logger, Getenv: o.Getenv,
	}
	if o.PublicURL != "" {
		d.PublicURL = o.PublicURL + prefix
	}
	if o.Dir != "" {
		d.Dir = filepath.Join(o.Dir, name)
	}
	return d
}

// admitting lets a system reject callers who have a valid token.
type admitting struct {
	api.Verifier
	admit func(context.Context, auth.Principal) (auth.Principal, error)
}

// Verify implements api.Verifier.
func (a admitting) Verify(ctx context.Context, token string) (auth.Principal, error) {
	p, err := a.Verifier.Verify(ctx, token)
	if err != nil || a.admit == nil {
		return p, err
	}
	return a.admit(ctx, p)
}

// mount adds a system's pages.
func (o Options) mount(a *api.API, name string, service *system.Service) {
	if own := o.page(name, "..", service.Page); service.Front != nil && own != nil {
		a.Handle("GET "+studio+"/", http.StripPrefix(studio, own))
	}
	for pattern, handler := range service.Pages {
		a.Handle(pattern, handler)
	}
}

// studio is the path of a system's own page if another page is at its root.
const studio = "/studio"

// page returns the system's page, which calls its API at a relative path, or nil if there is none.
func (o Options) page(name, api string, of system.Page) http.Handler {
	if !web.Has(name) {
		return nil
	}
	p := web.Page{API: api, Tokens: o.Tokens, Policy: web.Policy}
	for _, also := range []struct {
		of      string
		origins []string
	}{{"img-src 'self'", of.Pictures}, {"connect-src 'self'", of.Uploads}} {
		if len(also.origins) > 0 {
			p.Policy = strings.Replace(p.Policy, also.of, also.of+" "+strings.Join(also.origins, " "), 1)
		}
	}
	if of.Data != nil {
		p.Data = func(*http.Request) any { return of.Data }
	}
	if o.Listed {
		p.Home = "/"
	}
	return web.App(name, p)
}

// docs returns the API's page. Its files come from the build, so there is none on AWS, where functions serve operations only.
func (o Options) docs(s system.System) http.Handler {
	p := web.Page{Product: s.Name, Title: s.Title, API: ".", Tokens: o.Tokens, Data: func(*http.Request) any { return map[string]bool{"admins": s.AdminGroup != ""} }}
	if o.Listed {
		p.Home = "/"
	}
	return web.App("docs", p)
}

// ready checks the state of each table.
func ready(client *dynamodb.Client, tables []system.Table) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, t := range tables {
			described, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: t.Create.TableName})
			if err != nil {
				return err
			}
			if status := described.Table.TableStatus; status != types.TableStatusActive && status != types.TableStatusUpdating {
				return fmt.Errorf("table %s is %s", aws.ToString(t.Create.TableName), status)
			}
		}
		return nil
	}
}

// Handler serves everything to admitted requests.
func (h *Host) Handler() http.Handler {
	if h.admit == nil {
		return h.mux
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := h.admit(r)
		if err == nil {
			h.mux.ServeHTTP(w, r)
			return
		}
		api.WrapProcess(api.Unmatched, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			api.Complete(r.Context(), problem.Rules{}.Problem(err)).Write(w)
		}), h.logger, h.metrics).ServeHTTP(w, r)
	})
}

// Mux returns the mux with the systems, /metrics and /health.
func (h *Host) Mux() *http.ServeMux { return h.mux }

// Handle adds a handler besides the systems. It must be called before the host is served; a pattern is for example "GET /".
func (h *Host) Handle(pattern string, handler http.Handler) {
	_, route, _ := strings.Cut(pattern, " ")
	h.mux.Handle(pattern, api.WrapProcess(route, handler, h.logger, h.metrics))
}

// Service returns an open system, or nil if none has that name.
func (h *Host) Service(name string) *system.Service { return h.services[name] }

// Issuer returns the issuer that signs a system's tokens, or nil if they are not signed here.
func (h *Host) Issuer(name string) *auth.Issuer { return h.issuers[name] }

// Work runs the workers until the context ends, and returns when all have ended.
func (h *Host) Work(ctx context.Context) {
	supervise(ctx, h.workers, h.logger, func(worker string) { h.restarts.WithLabelValues(worker).Inc() })
}

// Drain ends event streams.
func (h *Host) Drain() { h.drain() }

// Close closes the systems in reverse order of opening. Serving must have ended.
func (h *Host) Close() error {
	var faults []error
	for _, name := range slices.Backward(h.order) {
		if s := h.services[name]; s.Close != nil {
			faults = append(faults, s.Close())
		}
	}
	return errors.Join(faults...)
}
