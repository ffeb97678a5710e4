// Package control lets the command's tools work on a database that another process has open. A directory belongs to
// one process, so the tool sends it a request.
//
// # Model
//
// The process that has DIR open listens on the unix socket DIR/control.sock, to which only the process's owner can
// connect. Requests are HTTP; responses are any number of lines of JSON, in this order:
//
//	GET  /                        {"result":{"protocol":1,"endpoint":"http://127.0.0.1:8000"}}
//	POST /backup {"dest":"/abs"}  {"progress":{"done":1,"total":9}}…  {"result":{}}
//	POST /compact                 {"result":{}}
//	GET  /stats                   {"result":{…}}
//	GET  /insights?table=NAME     {"result":{…}}
//	GET  /metrics                 {"result":"# HELP …"}
//	POST /iam {"action":…}        {"result":{…}}
//	POST /verify                  {"finding":{…}}… {"progress":{…}}…  {"result":{…}}
//	POST /move {"to":"postgres…"} {"progress":{"phase":"copy",…}}… {"notice":"…"}…  {"result":{…}}
//
// The last line has a result or {"error":"…"}; without either, the server ended in the middle. If the client
// disconnects, its request is canceled.
//
// # Invariants
//
//  1. The holder of the directory's lock owns the socket: Serve removes an existing one, which can only be stale.
//  2. A socket without a listener counts as missing: Dial returns ErrNotServed, and the caller may open the directory
//     itself. The lock decides.
//
// A Client is safe for concurrent use.
package control

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/monotable/monotable"
)

// SocketName is the name of the socket in a database's directory.
const SocketName = "control.sock"

// ErrNotServed is returned by Dial if no process listens on the directory's socket.
var ErrNotServed = errors.New("no process is listening")

// Database has the operations of tools on a whole database. *monotable.DB and Client implement it.
type Database interface {
	Backup(ctx context.Context, dest string, progress func(done, total int64)) error
	Compact(ctx context.Context) error
	Insights(ctx context.Context, table string) (monotable.Insights, error)
	IAM(ctx context.Context, r *monotable.IAMRequest) (monotable.IAMResult, error)
	Stats(ctx context.Context) (monotable.Stats, error)
	Verify(ctx context.Context, report func(monotable.Finding), progress func(done, total int64)) (monotable.Verified, error)
}

// protocol is the version of the protocol.
const protocol = 1

// hello is the response to a client that checks for a listener.
type hello struct {
	Protocol int `json:"protocol"`
	// Endpoint is the URL of the database's API; empty from older releases.
	Endpoint string `json:"endpoint,omitempty"`
}

// Mover moves the database that it has open. *monotable.DB and Client implement it. It ignores the options From and
// master key.
type Mover interface {
	Move(ctx context.Context, o *monotable.MoveOptions) (monotable.Moved, error)
}

// moveRequest asks for a move.
type moveRequest struct {
	To      string `json:"to"`
	Rate    int    `json:"rate,omitempty"`
	Encrypt bool   `json:"encrypt,omitempty"`
}

// backupRequest asks for a backup.
type backupRequest struct {
	Dest string `json:"dest"` // absolute
}

// event is a line of a response; one of its members is set.
type event struct {
	Progress *progress          `json:"progress,omitempty"`
	Finding  *monotable.Finding `json:"finding,omitempty"`
	Notice   string             `json:"notice,omitempty"`
	Result   json.RawMessage    `json:"result,omitempty"`
	Error    string             `json:"error,omitempty"`
}

type progress struct {
	Phase string `json:"phase,omitempty"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
}
