// Package control lets the command's tools work on a database that another process has open: a directory
// belongs to one process, so a tool asks that process.
//
// # Model
//
// The process that has DIR open listens on the unix socket DIR/control.sock, which only the owner of the
// process may connect to. Requests are HTTP; answers are lines of JSON, as many as the work makes, in this
// order:
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
// The last line has a result, or {"error":"…"}; without either the server has ended in the middle. A client
// that goes away ends what it asked for.
//
// # Invariants
//
//  1. Whoever has the directory's lock has the socket: Serve removes what it finds there, for it can only be
//     left over.
//  2. A socket that nobody answers on is as good as none: Dial returns ErrNobody, and the caller may open the
//     directory itself. The lock decides.
//
// A Client may be used by many goroutines at once.
package control

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/monotable/monotable"
)

// SocketName is the name of the socket in the directory of a database.
const SocketName = "control.sock"

// ErrNobody is the error of Dial where no process answers on a directory's socket.
var ErrNobody = errors.New("control: nobody answers")

// Database is what tools do with a database as a whole. *monotable.DB is one, and so is a Client.
type Database interface {
	Backup(ctx context.Context, dest string, progress func(done, total int64)) error
	Compact(ctx context.Context) error
	Insights(ctx context.Context, table string) (monotable.Insights, error)
	IAM(ctx context.Context, r *monotable.IAMRequest) (monotable.IAMResult, error)
	Stats(ctx context.Context) (monotable.Stats, error)
	Verify(ctx context.Context, report func(monotable.Finding), progress func(done, total int64)) (monotable.Verified, error)
}

// protocol is the version of what is said over the socket.
const protocol = 1

// hello is the answer to who asks whether anybody is there.
type hello struct {
	Protocol int `json:"protocol"`
	// Endpoint is the URL of the database's API. Releases that do not know it say none.
	Endpoint string `json:"endpoint,omitempty"`
}

// Mover moves the database that it has open. *monotable.DB is one, and so is a Client. Of the options From and the master key have no effect.
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

// event is a line of an answer; one of its members is set.
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
