package telemetry

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// protocol is the only supported OTLP protocol.
const protocol = "http/protobuf"

// enabled reports whether the environment enables traces. An unsupported exporter is an error.
func enabled(getenv func(string) string) (bool, error) {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	switch exporter := getenv("OTEL_TRACES_EXPORTER"); exporter {
	case "none":
		return false, nil
	case "otlp":
		return true, nil
	case "":
		return getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "", nil
	default:
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER=%s: want otlp or none", exporter)
	}
}

// check rejects values in the environment that the SDK would replace by a default with only a line in the log.
func check(getenv func(string) string) error {
	for _, c := range []struct {
		check func(value string) bool
		want  string
		names []string
	}{
		{isEndpoint, "a URL such as http://localhost:4318", []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}},
		{isTimeout, "milliseconds such as 10000", []string{"OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"}},
		{isSampler, "one of " + strings.Join(samplers, ", "), []string{"OTEL_TRACES_SAMPLER"}},
	} {
		for _, name := range c.names {
			if value := strings.TrimSpace(getenv(name)); value != "" && !c.check(value) {
				return fmt.Errorf("%s=%s: want %s", name, value, c.want)
			}
		}
	}
	const argument = "OTEL_TRACES_SAMPLER_ARG"
	if ratio := strings.TrimSpace(getenv(argument)); ratio != "" && strings.HasSuffix(sampler(getenv("OTEL_TRACES_SAMPLER")), "traceidratio") && !isRatio(ratio) {
		return fmt.Errorf("%s=%s: want a share of requests from 0 to 1, such as 0.1", argument, ratio)
	}
	// The variable for traces takes precedence over the one for all signals.
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		switch getenv(name) {
		case "":
			continue
		case protocol:
			return nil
		}
		return fmt.Errorf("%s=%s: want %s, which collectors take on port 4318", name, getenv(name), protocol)
	}
	return nil
}

// endpoint returns the destination of traces for messages, without a password. The environment has been checked.
func endpoint(getenv func(string) string) string {
	value := cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "https://localhost:4318")
	u, err := url.Parse(strings.TrimSpace(value))
	if err != nil {
		return ""
	}
	return u.Redacted()
}

func isEndpoint(value string) bool {
	u, err := url.Parse(value)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

func isTimeout(value string) bool {
	ms, err := strconv.Atoi(value)
	return err == nil && ms > 0
}

var samplers = []string{
	"always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio",
}

// sampler returns the name of a sampler as the SDK reads it.
func sampler(value string) string { return strings.ToLower(strings.TrimSpace(value)) }

func isSampler(value string) bool { return slices.Contains(samplers, sampler(value)) }

func isRatio(value string) bool {
	ratio, err := strconv.ParseFloat(value, 64)
	return err == nil && ratio >= 0 && ratio <= 1
}
