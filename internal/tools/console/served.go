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

// Served is what an endpoint has beside DynamoDB's API.
type Served struct {
	// Server is whether it is a monotable server, which describes itself; Metrics, whether it has those of CloudWatch.
	Server  bool `json:"server"`
	Metrics bool `json:"metrics"`
}

// serving finds out what the endpoint has, once.
type serving struct {
	mu    sync.Mutex
	found *Served
}

// known is what the endpoint has where nobody needs to ask it.
func (o *Options) known() *Served {
	if o.Served != nil {
		return o.Served
	}
	if u, err := url.Parse(o.Endpoint); err == nil && ofAWS(u.Hostname()) {
		return &Served{Metrics: true}
	}
	return nil
}

// served tells the page what the endpoint has, so that it offers no view that would stay empty.
func (c *Console) served(w http.ResponseWriter, r *http.Request) {
	c.serving.mu.Lock()
	defer c.serving.mu.Unlock()
	if c.serving.found == nil {
		credentials, err := c.credentials(r)
		if err != nil {
			refuse(w, http.StatusUnauthorized, codeOf(err, "CredentialsError"), err.Error())
			return
		}
		has := func(operation, body string) (bool, error) {
			response, err := c.send(r, operation, []byte(body), credentials)
			if err != nil {
				return false, err
			}
			defer func() { _ = response.Body.Close() }()
			said, err := io.ReadAll(io.LimitReader(response.Body, bodyMax))
			return response.StatusCode == http.StatusOK || refusedAsKnown(response.StatusCode, said), err
		}
		var found Served
		if found.Server, err = has("DescribeServer", `{}`); err == nil {
			found.Metrics, err = has("ListMetrics", `{"Namespace":"AWS/DynamoDB"}`)
		}
		if err != nil {
			refuse(w, http.StatusBadGateway, "EndpointUnreachable", c.options.Endpoint+" cannot be reached: "+err.Error())
			return
		}
		c.serving.found = &found
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(c.serving.found) // the page is gone where it fails
}

// refusedAsKnown tells whether an error is of an operation that the endpoint has: the caller may not call it.
func refusedAsKnown(status int, body []byte) bool {
	var said struct {
		Type string `json:"__type"`
	}
	_ = json.NewDecoder(bytes.NewReader(body)).Decode(&said)
	return status < http.StatusInternalServerError && strings.Contains(said.Type, "AccessDenied")
}
