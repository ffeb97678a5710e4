package policy

import (
	"net"
	"net/http"
	"strconv"
	"time"
)

// Circumstances are the condition keys of a request that do not depend on what it requests.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html
type Circumstances struct {
	Request *http.Request
	// Region is the Region requested; "" if there is none.
	Region string
	Now    func() time.Time
}

// Key returns the value of a condition key.
func (c Circumstances) Key(name string) Value {
	r := c.Request
	switch name {
	case "aws:requestedregion":
		return OneIf(c.Region)
	case "aws:currenttime":
		return One(c.Now().UTC().Format(time.RFC3339Nano))
	case "aws:epochtime":
		return One(strconv.FormatInt(c.Now().Unix(), 10))
	case "aws:securetransport":
		return One(strconv.FormatBool(r.TLS != nil))
	case "aws:sourceip":
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			return Value{}
		}
		return OneIf(host)
	case "aws:useragent":
		return OneIf(r.UserAgent())
	case "aws:referer":
		return OneIf(r.Referer())
	case "aws:viaawsservice", "aws:principalisawsservice":
		return One("false")
	default:
		return Value{}
	}
}
