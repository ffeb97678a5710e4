package sam

import (
	"strings"
	"testing"
)

// The parameters that every template has.
const (
	userPool   = "UserPoolId"
	userClient = "UserPoolClientId"
	origins    = "Origins"
	rateLimit  = "ThrottleRate"
	burstLimit = "ThrottleBurst"
)

func (t Template) parameters(p *provisioned) object {
	accepted := "The Cognito user pool whose access tokens are accepted"
	if t.AdminGroup != "" {
		accepted += "; members of its group " + t.AdminGroup + " are admins"
	}
	out := of(
		userPool, of("Type", "String", "Description", accepted),
		userClient, of("Type", "String", "Description", "The app client of that user pool; its tokens are accepted, those of other clients are not"),
		origins, of("Type", "CommaDelimitedList", "Default", "*", "Description", "Origins whose pages may call"),
		rateLimit, of("Type", "Number", "Default", 1000, "Description", "Requests a second that each route takes"),
		burstLimit, of("Type", "Number", "Default", 2000, "Description", "Requests that each route takes at once"),
	)
	out = append(out, p.parameters...)
	for _, s := range t.Settings {
		out = append(out, of(s.Parameter, of("Type", "String", "Default", s.Default, "Description", s.About))...)
	}
	return out
}

func (t Template) globals(p *provisioned) object {
	variables := of(
		"COGNITO_USER_POOL_ID", ref(userPool), "COGNITO_CLIENT_ID", ref(userClient),
		"APP_CURSOR_KEY", sub("{{resolve:secretsmanager:${CursorKey}}}"),
	)
	for _, s := range p.parameters {
		if s.Key == "Stage" {
			variables = append(variables, of("APP_STAGE", ref("Stage"))...)
		}
	}
	for _, s := range t.Settings {
		variables = append(variables, of(s.Variable, ref(s.Parameter))...)
	}
	return of("Function", of(
		"Runtime", "provided.al2023", "Architectures", []string{"arm64"}, "Handler", "bootstrap", "CodeUri", "dist/",
		"MemorySize", 256, "Timeout", 15, "Environment", of("Variables", variables),
	))
}

func (t Template) resources(tb testing.TB, p *provisioned) object {
	tb.Helper()
	out := append(object{}, p.resources...)
	out = append(out, of("Api", of("Type", "AWS::Serverless::HttpApi", "Properties", of(
		"StageName", "$default",
		"DefaultRouteSettings", of("ThrottlingRateLimit", ref(rateLimit), "ThrottlingBurstLimit", ref(burstLimit), "DetailedMetricsEnabled", true),
		"CorsConfiguration", of(
			"AllowOrigins", ref(origins), "AllowMethods", []string{"GET", "POST", "PUT", "PATCH", "DELETE"},
			"AllowHeaders", []string{"Authorization", "Content-Type", "Idempotency-Key", "X-Request-Id"},
			"ExposeHeaders", []string{"Location", "Retry-After", "WWW-Authenticate", "X-Request-Id"}, "MaxAge", 600,
		),
	)), "CursorKey", of("Type", "AWS::SecretsManager::Secret", "Properties", of(
		// Hexadecimal digits alone.
		"Description", "Seals the cursors of "+t.Name, "GenerateSecretString", of(
			"PasswordLength", 64, "ExcludePunctuation", true, "ExcludeUppercase", true, "ExcludeCharacters", "ghijklmnopqrstuvwxyz",
			"RequireEachIncludedType", false,
		),
	)))...)
	for _, r := range t.Routes {
		out = append(out, of(logicalID(r.ID)+"Function", of("Type", "AWS::Serverless::Function", "Properties", of(
			"Description", r.Summary, "Policies", p.policies(tb, p.statements(tb, t.Functions[r.ID])),
			"Events", of("Request", of("Type", "HttpApi", "Properties", of("ApiId", ref("Api"), "Method", strings.ToUpper(r.Method), "Path", r.Path))),
		)))...)
	}
	for _, s := range t.Streams {
		out = append(out, t.follower(tb, p, s)...)
	}
	return append(out, p.alarms()...)
}

// follower is a function that follows a table, the queue of the batches that it gave up, and the alarm that there are some.
func (t Template) follower(tb testing.TB, p *provisioned, s Stream) object {
	tb.Helper()
	id := logicalID(s.Name)
	stream := of(
		"Stream", attribute(p.table(tb, s.Table).id, "StreamArn"), "StartingPosition", "TRIM_HORIZON", "BatchSize", 100,
		"MaximumRetryAttempts", 10, "BisectBatchOnFunctionError", true, "ParallelizationFactor", 4,
		"DestinationConfig", of("OnFailure", of("Type", "SQS", "Destination", attribute(id+"Failures", "Arn"))),
	)
	if s.Filter != "" {
		stream = append(stream, of("FilterCriteria", of("Filters", []object{of("Pattern", s.Filter)}))...)
	}
	return of(
		id+"Function", of("Type", "AWS::Serverless::Function", "Properties", of(
			"Description", "Follows "+s.Table+": "+s.Name, "Timeout", 60, "Policies", p.policies(tb, p.statements(tb, s.Patterns)),
			"Events", of("Changes", of("Type", "DynamoDB", "Properties", stream)),
		)),
		id+"Failures", of("Type", "AWS::SQS::Queue", "Properties", of("MessageRetentionPeriod", 1209600, "SqsManagedSseEnabled", true)),
		id+"FailuresAlarm", of("Type", "AWS::CloudWatch::Alarm", "Properties", of(
			"AlarmDescription", "Batches that "+s.Name+" has given up wait in a queue",
			"Namespace", "AWS/SQS", "MetricName", "ApproximateNumberOfMessagesVisible",
			"Dimensions", []object{of("Name", "QueueName", "Value", attribute(id+"Failures", "QueueName"))},
			"Statistic", "Maximum", "Period", 300, "EvaluationPeriods", 1, "Threshold", 0,
			"ComparisonOperator", "GreaterThanThreshold", "TreatMissingData", "notBreaching",
		)),
	)
}
