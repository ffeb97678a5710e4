package server

import "bytes"

const (
	// sampledText is the length from which a text of a sampled input is cut. No key is longer.
	sampledText = 4 << 10
	// sampledInput is the maximum size of a sampled input.
	sampledInput = 64 << 10
)

// consoleAgent is the user agent of the console, whose own requests say nothing about the application.
const consoleAgent = "monotable-console"

// sampledOperations are the operations that read or write items.
var sampledOperations = map[string]bool{
	"BatchExecuteStatement": true, "BatchGetItem": true, "BatchWriteItem": true, "DeleteItem": true, "ExecuteStatement": true,
	"ExecuteTransaction": true, "GetItem": true, "PutItem": true, "Query": true, "Scan": true, "SearchVectors": true,
	"TransactGetItems": true, "TransactWriteItems": true, "UpdateItem": true,
}

// sample records the input of a call if someone is observing its tables, which is rare.
func (x *exchange) sample(body []byte) {
	if x.server.options.Observe.Sample.On() && x.called.items && x.r.UserAgent() != consoleAgent {
		x.sampled, x.input = true, shortened(body)
	}
}

// shortened returns a copy of a JSON document with long texts replaced by an ellipsis; nil if it is still too long.
func shortened(body []byte) []byte {
	if len(body) <= sampledText {
		return bytes.Clone(body)
	}
	var out []byte
	for len(body) > 0 && len(out) <= sampledInput {
		begin := bytes.IndexByte(body, '"')
		if begin < 0 {
			out = append(out, body...)
			break
		}
		end := begin + 1
		for end < len(body) && body[end] != '"' {
			if body[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(body))
		out = append(out, body[:begin]...)
		if end-begin > sampledText {
			out = append(out, "\"…\""...)
		} else {
			out = append(out, body[begin:end]...)
		}
		body = body[end:]
	}
	if len(out) > sampledInput {
		return nil
	}
	return out
}
