package console

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// Served lists the features of an endpoint in addition to DynamoDB's API.
type Served struct {
	// Server: it is a monotable server and supports DescribeServer. Metrics: it has CloudWatch metrics.
	Server  bool `json:"server"`
	Metrics bool `json:"metrics"`
}

// serving detects the endpoint's features once.
type serving struct {
	mu    sync.Mutex
	found *Served
}

// known returns the endpoint's features if they are known without a request.
func (o *Options) known() *Served {
	if o.Served != nil {
		return o.Served
	}
	if u, err := url.Parse(o.Endpoint); err == nil && ofAWS(u.Hostname()) {
		return &Served{Metrics: true}
	}
	return nil
}

// served returns the endpoint's features to the page, which hides views that would stay empty.
func (c *Console) served(w http.ResponseWriter, r *http.Request) {
	c.serving.mu.Lock()
	defer c.serving.mu.Unlock()
	if c.serving.found == nil {
		credentials, err := c.credentials(r)
		if err != nil {
			refuse(w, r, http.StatusUnauthorized, codeOf(err, "CredentialsError"), err.Error())
			return
		}
		has := func(operation, body string) (bool, error) {
			response, err := c.send(r, operation, []byte(body), credentials)
			if err != nil {
				return false, err
			}
			defer func() { _ = response.Body.Close() }()
			text, err := io.ReadAll(io.LimitReader(response.Body, bodyMax))
			return response.StatusCode == http.StatusOK || deniedToCaller(response.StatusCode, text), err
		}
		var found Served
		if found.Server, err = has("DescribeServer", `{}`); err == nil {
			found.Metrics, err = has("ListMetrics", `{"Namespace":"AWS/DynamoDB"}`)
		}
		if err != nil {
			refuse(w, r, http.StatusBadGateway, "EndpointUnreachable", c.options.Endpoint+" cannot be reached: "+err.Error())
			return
		}
		c.serving.found = &found
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(c.serving.found) // on failure, the page has disconnected
}

// deniedToCaller reports whether an error shows that the endpoint has the operation but denies it to the caller.
func deniedToCaller(status int, body []byte) bool {
	var failure struct {
		Type string `json:"__type"`
	}
	_ = json.NewDecoder(bytes.NewReader(body)).Decode(&failure)
	return status < http.StatusInternalServerError && strings.Contains(failure.Type, "AccessDenied")
}
