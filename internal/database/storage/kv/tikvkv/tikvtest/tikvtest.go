//go:build unix

// Package tikvtest runs clusters for tests: the real placement driver, and three servers of a stand-in of TiKV in Go, which
// speaks TiKV's protocol and replicates by Raft. Both are built from modules of their own, test/tikv/pd and test/tikv/node:
// their first compilation takes minutes.
//
// A Cluster has its own data directory, and uses free ports of 127.0.0.1. Methods must not be called concurrently.
package tikvtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	startTime = 2 * time.Minute
	nodeCount = 3
)

// nodeConfig makes elections short, and commits durable.
const nodeConfig = `
[server]
log-level = "warn"
[raftstore]
pd-heartbeat-tick-interval = "1s"
raft-store-max-leader-lease = "900ms"
raft-base-tick-interval = "100ms"
raft-heartbeat-ticks = 2
raft-election-timeout-ticks = 10
custom-raft-log = true
[engine]
sync-write = true
vlog-file-size = 67108864
max-mem-table-size = 16777216
block-cache-size = 16777216
index-cache-size = 16777216
compression = ["none", "none", "none", "none", "none", "none", "none"]
`

// driverConfig makes the driver check regions often.
const driverConfig = `
[schedule]
patrol-region-interval = "10ms"
`

// Cluster is a placement driver and its nodes.
type Cluster struct {
	bin, dir string
	options  Options
	http     http.Client // for the driver
	client   string      // the driver's address
	peers    string      // its address for other drivers
	driver   *process
	nodes    [nodeCount]*process
	stores   [nodeCount]string // the nodes' addresses
	revived  int               // times that a node was restarted after it had ended by itself
}

// Options configure a cluster.
type Options struct {
	// Proxy, if set, makes the processes of the cluster communicate through proxies: it is called whenever one of them starts,
	// and returns the URL of an HTTP proxy through which the process connects to the hosts. All of them then have names that
	// only proxies resolve, and every client of the cluster needs a proxy, too, in the environment variable HTTPS_PROXY.
	Proxy func(process int, hosts map[string]string) (url string)
	// TLS encrypts all connections, and all processes present certificates. It cannot be combined with Proxy.
	TLS bool
	// Logs is a directory for the processes' output. The default is the cluster's own directory, which Remove removes.
	Logs string
}

// Driver is the number of the placement driver among the processes; nodes are numbered from 0.
const Driver = -1

type process struct {
	name   string
	cmd    *exec.Cmd
	exited chan struct{}
	killed bool // by Kill
}

// Run starts a cluster for the tests of a package, and returns their exit code after it has stopped. It is for TestMain.
func Run(tests func(c *Cluster) int) int {
	c, err := Start(Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, "tikvtest:", err)
		return 1
	}
	defer c.Remove()
	return tests(c)
}

// New starts a cluster for the duration of a test. The processes' output is among the test's artifacts (go test -artifacts), and
// its end is logged if the test fails or one of them has ended by itself. One node may end by itself.
func New(tb testing.TB, o Options) *Cluster {
	tb.Helper()
	o.Logs = tb.ArtifactDir()
	c, err := Start(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ended := c.ended()
		for _, e := range ended {
			tb.Log(e)
		}
		if len(ended) > 1 || c.driver.crashed() {
			tb.Error("more has ended by itself than one node, without which the others continue")
		}
		if tb.Failed() || len(ended) > 0 {
			tb.Log(c.printed())
		}
		c.Remove()
	})
	return c
}

// Start builds what is needed and starts a cluster, whose stores' regions have three replicas.
func Start(o Options) (*Cluster, error) {
	bin, err := build()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "tikv")
	if err != nil {
		return nil, err
	}
	if o.Logs == "" {
		o.Logs = dir
	}
	c := &Cluster{bin: bin, dir: dir, options: o, http: http.Client{Timeout: 5 * time.Second}, client: freeAddress(), peers: freeAddress()}
	for i := range c.stores {
		c.stores[i] = freeAddress()
	}
	if err := c.startAll(); err != nil {
		err = fmt.Errorf("%w\n%s", err, c.printed())
		c.Remove()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) startAll() error {
	for name, text := range map[string]string{"node.toml": nodeConfig, "pd.toml": driverConfig} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if c.options.TLS {
		if err := c.prepareTLS(); err != nil {
			return err
		}
	}
	if err := c.startDriver(); err != nil {
		return err
	}
	for i := range c.nodes {
		if err := c.startNode(i); err != nil {
			return err
		}
	}
	// Otherwise only a few replicas are created per minute.
	response, err := c.http.Post(c.url(c.client)+"/pd/api/v1/stores/limit", "application/json", strings.NewReader(`{"type": "add-peer", "rate": 3000}`)) //nolint:noctx // it has a time limit
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	return c.await("three replicas of each region", c.replicated)
}

// startDriver starts the placement driver and waits until it responds.
func (c *Cluster) startDriver() (err error) {
	cmd := exec.Command(filepath.Join(c.bin, "pd-server"), "--config="+filepath.Join(c.dir, "pd.toml"), "--name=pd", "--data-dir="+filepath.Join(c.dir, "pd"), //nolint:gosec,noctx // our own, and outlives any context
		"--client-urls="+c.url(c.client), "--advertise-client-urls="+c.url(c.name(c.client)), "--peer-urls="+c.url(c.peers), "-L", "warn")
	if c.options.TLS {
		cmd.Args = append(cmd.Args, "--cacert="+c.file(caFile), "--cert="+c.file(certFile), "--key="+c.file(keyFile))
	}
	cmd.Env = append(c.environ(Driver), "GODEBUG=httpmuxgo121=1") // its routes are older than Go's patterns
	if c.driver, err = c.start(cmd, "pd"); err != nil {
		return err
	}
	return c.await("the placement driver", func() bool { return c.ask("health", nil) == nil })
}

func (c *Cluster) startNode(i int) (err error) {
	data := filepath.Join(c.dir, fmt.Sprint("node", i))
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(c.bin, nodeProgram), "-config", filepath.Join(c.dir, "node.toml"), "-data-dir", data, //nolint:gosec,noctx // the same
		"-pd", c.name(c.client), "-listen", c.stores[i], "-addr", c.name(c.stores[i]))
	if c.options.TLS {
		cmd.Args = append(cmd.Args, "-ca", c.file(caFile), "-cert", c.file(certFile), "-key", c.file(keyFile))
	}
	cmd.Env = c.environ(i)
	c.nodes[i], err = c.start(cmd, fmt.Sprint("node", i))
	return err
}

// proxied is the host of all names that only proxies resolve.
const proxied = "tikv.test"

// name is an address as the processes of the cluster call it.
func (c *Cluster) name(address string) string {
	if c.options.Proxy == nil {
		return address
	}
	_, port, _ := net.SplitHostPort(address)
	return net.JoinHostPort(proxied, port)
}

// Hosts are the addresses of the driver and of all nodes, by the names that a proxy resolves.
func (c *Cluster) Hosts() map[string]string {
	hosts := map[string]string{c.name(c.client): c.client}
	for _, address := range c.stores {
		hosts[c.name(address)] = address
	}
	return hosts
}

// Name is the name of a process among the keys of Hosts.
func (c *Cluster) Name(process int) string {
	if process == Driver {
		return c.name(c.client)
	}
	return c.name(c.stores[process])
}

func (c *Cluster) environ(process int) []string {
	if c.options.Proxy == nil {
		return os.Environ()
	}
	return append(os.Environ(), "HTTPS_PROXY="+c.options.Proxy(process, c.Hosts()))
}

// Address is the address of a store in the cluster. Stores with different prefixes are separate.
func (c *Cluster) Address(prefix string) string {
	return c.Plain(prefix) + c.certificates()
}

// Plain is Address for connections without TLS.
func (c *Cluster) Plain(prefix string) string {
	return "tikv://" + c.name(c.client) + "?gc=off&prefix=" + prefix
}

// Kill ends a process like a power failure.
func (c *Cluster) Kill(process int) { c.process(process).kill() }

// ended returns an error for each process that has ended by itself.
func (c *Cluster) ended() (list []error) {
	for _, p := range c.processes() {
		if p.crashed() {
			list = append(list, fmt.Errorf("%s has ended: %v", p.name, p.cmd.ProcessState))
		}
	}
	return list
}

// revive restarts a node that has ended by itself, a few times: on a busy machine unistore panics now and then while it adds a replica.
func (c *Cluster) revive() error {
	ended := c.ended()
	for i, p := range c.nodes {
		if p == nil || !p.crashed() || c.revived == nodeCount {
			continue
		}
		c.revived++
		return c.startNode(i)
	}
	return errors.Join(ended...)
}

// crashed reports whether the process has ended by itself.
func (p *process) crashed() bool {
	select {
	case <-p.exited:
		return !p.killed
	default:
		return false
	}
}

// processes are those that were started.
func (c *Cluster) processes() (list []*process) {
	for _, p := range append(c.nodes[:], c.driver) {
		if p != nil {
			list = append(list, p)
		}
	}
	return list
}

// Restart restarts a process that was killed.
func (c *Cluster) Restart(process int) error {
	if process == Driver {
		return c.startDriver()
	}
	return c.startNode(process)
}

// Pause stops a process until Resume.
func (c *Cluster) Pause(process int) { c.process(process).signal(syscall.SIGSTOP) }

// Resume continues a process after Pause.
func (c *Cluster) Resume(process int) { c.process(process).signal(syscall.SIGCONT) }

func (c *Cluster) process(n int) *process {
	if n == Driver {
		return c.driver
	}
	return c.nodes[n]
}

// Processes are the ids of the placement driver and of the nodes.
func (c *Cluster) Processes() (ids []int) {
	for _, p := range c.processes() {
		ids = append(ids, p.cmd.Process.Pid)
	}
	return ids
}

// AwaitHealthy returns once all nodes are up and have a replica of each region.
func (c *Cluster) AwaitHealthy() error {
	return c.await("a healthy cluster", c.replicated)
}

// SafePoint is the timestamp before which the cluster may remove versions.
func (c *Cluster) SafePoint() (uint64, error) {
	var response struct {
		SafePoint uint64 `json:"gc_safe_point"`
	}
	err := c.ask("gc/safepoint", &response)
	return response.SafePoint, err
}

// Region is a range of keys as reported by the placement driver.
type Region struct {
	ID          uint64     `json:"id"`
	Start       string     `json:"start_key"` // as TiKV writes it, in hexadecimal
	End         string     `json:"end_key"`
	WrittenKeys uint64     `json:"written_keys"` // between the last two heartbeats
	Peers       []struct{} `json:"peers"`
	Leader      struct {
		Node uint64 `json:"store_id"`
	} `json:"leader"`
	Down    []struct{} `json:"down_peers"`
	Pending []struct{} `json:"pending_peers"`
}

// Regions are all regions of the cluster.
func (c *Cluster) Regions() ([]Region, error) {
	var response struct {
		Regions []Region `json:"regions"`
	}
	err := c.ask("regions", &response)
	return response.Regions, err
}

// Remove ends the cluster and removes its data.
func (c *Cluster) Remove() {
	for _, p := range c.processes() {
		p.kill()
	}
	_ = os.RemoveAll(c.dir)
}

func (p *process) signal(signal os.Signal) { _ = p.cmd.Process.Signal(signal) }

func (p *process) kill() {
	p.killed = true
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// start starts a process that ends with this one and writes to a file.
func (c *Cluster) start(cmd *exec.Cmd, name string) (*process, error) {
	file, err := os.OpenFile(filepath.Join(c.options.Logs, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd.Stdout, cmd.Stderr = file, file
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{name: name, cmd: cmd, exited: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(p.exited) }()
	return p, nil
}

// The regions with stores' keys, which start with "monotable/", in the driver's notation.
const storesBegin, storesEnd = "6D6F6E6F7461626C", "6D6F6E6F7461626D"

// replicated reports whether all nodes are up and each region of a store's keys has three replicas and a leader.
func (c *Cluster) replicated() bool {
	var stores struct {
		Stores []struct {
			Store struct {
				State string `json:"state_name"`
			} `json:"store"`
		} `json:"stores"`
	}
	regions, err := c.Regions()
	if err != nil || c.ask("stores", &stores) != nil || len(stores.Stores) != nodeCount || len(regions) == 0 {
		return false
	}
	for _, s := range stores.Stores {
		if s.Store.State != "Up" {
			return false
		}
	}
	for _, r := range regions {
		if r.Start >= storesEnd || r.End != "" && r.End <= storesBegin { // the stand-in cannot split others as the driver wants
			continue
		}
		if len(r.Peers) != nodeCount || r.Leader.Node == 0 || len(r.Down)+len(r.Pending) > 0 {
			return false
		}
	}
	return true
}

// ask queries the placement driver's HTTP interface.
func (c *Cluster) ask(what string, into any) error {
	response, err := c.http.Get(c.url(c.client) + "/pd/api/v1/" + what) //nolint:noctx // it has a time limit
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return err
	case response.StatusCode != http.StatusOK:
		return errors.New(response.Status)
	case into == nil:
		return nil
	}
	return json.Unmarshal(body, into)
}

func (c *Cluster) await(what string, is func() bool) error {
	for begun := time.Now(); !is(); <-time.After(100 * time.Millisecond) {
		if err := c.revive(); err != nil {
			return err
		}
		if time.Since(begun) > startTime {
			return fmt.Errorf("there is not %s after %v", what, startTime)
		}
	}
	return nil
}

// printed is the end of the processes' output.
func (c *Cluster) printed() string {
	var b strings.Builder
	logs, _ := filepath.Glob(filepath.Join(c.options.Logs, "*.log"))
	for _, name := range logs {
		text, _ := os.ReadFile(name) //nolint:gosec // our own
		fmt.Fprintf(&b, "%s: %s\n", filepath.Base(name), text[max(0, len(text)-2000):])
	}
	return b.String()
}

// freeAddress is an address with a free port.
func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // at once
	if err != nil {
		panic(err)
	}
	defer l.Close()
	return l.Addr().String()
}
