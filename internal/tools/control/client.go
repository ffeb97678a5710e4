package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"syscall"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/monotable/monotable"
)

// helloTimeout is the timeout for a process to respond.
const helloTimeout = 5 * time.Second

// Client works on the database that another process has open.
type Client struct {
	http     *http.Client
	endpoint string
}

// Dial connects to the process that has dir open. It returns ErrNotServed if there is no socket, or no process
// responds on it; another error if this process may not use it, or does not understand the response.
func Dial(ctx context.Context, dir string) (*Client, error) {
	c := &Client{http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (conn net.Conn, err error) {
			err = withSocket(dir, func(path string) (err error) {
				conn, err = new(net.Dialer).DialContext(ctx, "unix", path)
				return err
			})
			return conn, err
		},
	}}}
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	var there hello
	err := c.do(ctx, http.MethodGet, "/", nil, &responseTarget{result: &there})
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("the database in %s belongs to another user: run the command as that user (%w)", dir, fs.ErrPermission)
	case err != nil:
		return nil, fmt.Errorf("%w on %s: %w", ErrNotServed, filepath.Join(dir, SocketName), err)
	case there.Protocol != protocol:
		return nil, fmt.Errorf("the process that has %s open is from another release: use the command of the same release", dir)
	}
	c.endpoint = there.Endpoint
	return c, nil
}

// Endpoint is the URL of the API of the database that the other process serves; "" if it did not say.
func (c *Client) Endpoint() string { return c.endpoint }

// Backup makes dest, a path of this process, a copy of the database. The other process writes it.
func (c *Client) Backup(ctx context.Context, dest string, progress func(done, total int64)) error {
	if dest == "" { // which would be the working directory
		return errors.New("the name of the backup's directory is empty")
	}
	path, err := filepath.Abs(dest)
	if err != nil {
		return err
	}
	return c.do(ctx, http.MethodPost, "/backup", backupRequest{path}, &responseTarget{progress: progress})
}

// Compact gives back room that the database does not need.
func (c *Client) Compact(ctx context.Context) error {
	return c.do(ctx, http.MethodPost, "/compact", nil, &responseTarget{})
}

// Stats returns statistics about the database's content.
func (c *Client) Stats(ctx context.Context) (s monotable.Stats, err error) {
	err = c.do(ctx, http.MethodGet, "/stats", nil, &responseTarget{result: &s})
	return s, err
}

// Insights returns the most accessed and most throttled keys of a table.
func (c *Client) Insights(ctx context.Context, table string) (in monotable.Insights, err error) {
	err = c.do(ctx, http.MethodGet, "/insights?table="+url.QueryEscape(table), nil, &responseTarget{result: &in})
	return in, err
}

// IAM manages who may call the database.
func (c *Client) IAM(ctx context.Context, r *monotable.IAMRequest) (result monotable.IAMResult, err error) {
	err = c.do(ctx, http.MethodPost, "/iam", r, &responseTarget{result: &result})
	return result, err
}

// Metrics returns the metrics of the other process, by name.
func (c *Client) Metrics(ctx context.Context) (map[string]*dto.MetricFamily, error) {
	var text string
	if err := c.do(ctx, http.MethodGet, "/metrics", nil, &responseTarget{result: &text}); err != nil {
		return nil, err
	}
	return parseExposition(text)
}

// Verify proves the database against itself.
func (c *Client) Verify(ctx context.Context, report func(monotable.Finding), progress func(done, total int64)) (v monotable.Verified, err error) {
	err = c.do(ctx, http.MethodPost, "/verify", nil, &responseTarget{result: &v, finding: report, progress: progress})
	return v, err
}

// Move makes the other process move the database while it serves it. That process connects to the target itself,
// with its own environment. Canceling ctx ends a move whose source has not been left.
func (c *Client) Move(ctx context.Context, o *monotable.MoveOptions) (m monotable.Moved, err error) {
	err = c.do(ctx, http.MethodPost, "/move", moveRequest{o.To, o.Rate, o.Encrypt}, &responseTarget{result: &m, phase: o.Progress, notice: o.Notice})
	return m, err
}

// responseTarget has the destinations of the parts of a response; other parts are skipped.
type responseTarget struct {
	progress func(done, total int64)
	phase    func(phase string, done, total int64)
	finding  func(monotable.Finding)
	notice   func(text string)
	result   any
}

var errExited = errors.New("the process that has the database open exited before it was done")

// do sends a request and reads the whole response.
func (c *Client) do(ctx context.Context, method, path string, in any, out *responseTarget) error {
	var body io.Reader = http.NoBody
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://monotable.invalid"+path, body)
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if failed, is := errors.AsType[*url.Error](err); is {
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
			return errExited
		}
		err = failed.Err // without the URL, which is internal
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path, response.Status)
	}
	return out.read(json.NewDecoder(response.Body))
}

func (out *responseTarget) read(lines *json.Decoder) error {
	for {
		var e event
		err := lines.Decode(&e)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return errExited
		case err != nil:
			return fmt.Errorf("the server's response: %w", err)
		case e.Error != "":
			return errors.New(e.Error)
		case e.Result != nil && out.result != nil:
			return json.Unmarshal(e.Result, out.result)
		case e.Result != nil:
			return nil
		case e.Finding != nil && out.finding != nil:
			out.finding(*e.Finding)
		case e.Notice != "" && out.notice != nil:
			out.notice(e.Notice)
		case e.Progress != nil && out.phase != nil:
			out.phase(e.Progress.Phase, e.Progress.Done, e.Progress.Total)
		case e.Progress != nil && out.progress != nil:
			out.progress(e.Progress.Done, e.Progress.Total)
		}
	}
}
