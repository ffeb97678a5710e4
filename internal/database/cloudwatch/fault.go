package cloudwatch

import (
	"fmt"
	"net/http"
)

// fault is an error response.
type fault struct {
	status  int
	code    string // as in AWS Query
	shape   string // as in the other protocols, if it differs
	message string
}

func (f *fault) Error() string { return f.code + ": " + f.message }

// name returns the code for protocols that name shapes.
func (f *fault) name() string {
	if f.shape != "" {
		return f.shape
	}
	return f.code
}

// sender returns whether the client or the server is at fault.
func (f *fault) sender() string {
	if f.status >= http.StatusInternalServerError {
		return "Receiver"
	}
	return "Sender"
}

var (
	errInternal  = &fault{http.StatusInternalServerError, "InternalServiceError", "InternalServiceFault", "The request processing has failed because of an internal error. See the log of the server."}
	errTooLarge  = &fault{http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "RequestEntityTooLargeException", fmt.Sprintf("The request body is larger than %d bytes.", BodyMax)}
	errThrottled = &fault{http.StatusBadRequest, "Throttling", "ThrottlingException", "Rate exceeded"}
	errToken     = &fault{http.StatusBadRequest, "InvalidNextToken", "", "The NextToken is invalid: it is not from this request, or the request has changed."}
)

func malformed(format string, args ...any) *fault {
	return &fault{http.StatusBadRequest, "MalformedInput", "SerializationException", fmt.Sprintf(format, args...)}
}

func invalidValue(format string, args ...any) *fault {
	return &fault{http.StatusBadRequest, "InvalidParameterValue", "InvalidParameterValueException", fmt.Sprintf(format, args...)}
}

func invalidCombination(format string, args ...any) *fault {
	return &fault{http.StatusBadRequest, "InvalidParameterCombination", "InvalidParameterCombinationException", fmt.Sprintf(format, args...)}
}

func missing(parameter string) *fault {
	return &fault{http.StatusBadRequest, "MissingParameter", "MissingRequiredParameterException", fmt.Sprintf("The parameter %s is required.", parameter)}
}

// invalid returns GetMetricData's error for invalid queries.
func invalid(format string, args ...any) *fault {
	return &fault{http.StatusBadRequest, "ValidationError", "", fmt.Sprintf(format, args...)}
}

func denied(who, action string) *fault {
	return &fault{http.StatusForbidden, "AccessDenied", "AccessDeniedException", fmt.Sprintf("User: %s is not authorized to perform: %s", who, action)}
}
