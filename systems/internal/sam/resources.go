package sam

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/monotable/monotable/systems/internal/api"
)

// The parameters of every template.
const (
	userPool   = "UserPoolId"
	userClient = "UserPoolClientId"
	origins    = "Origins"
	rateLimit  = "ThrottleRate"
	burstLimit = "ThrottleBurst"
	callerRate = "CallerRate"
	alarmTopic = "AlarmTopic"
	retention  = "LogRetention"
	deployment = "Deployment"

	stageParameter             = "Stage"
	redriveParameter, redriven = "Redrive", "Redriven"
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
		callerRate, of("Type", "Number", "Default", 50, "Description", "Requests a second that each instance of a function takes from one caller; 0 for no bound"),
		alarmTopic, of("Type", "String", "AllowedPattern", "arn:.+", "Description", "The SNS topic that alarms tell"),
		retention, of("Type", "Number", "Default", 30, "Description", "For how many days logs are kept"),
		deployment, of("Type", "String", "Default", "Canary10Percent5Minutes", "Description", "How CodeDeploy moves requests to a new version; AllAtOnce for development"),
	)
	out = append(out, p.parameters...)
	if get(p.parameters, stageParameter) == nil {
		out = append(out, of(stageParameter, of("Type", "String", "Default", "dev", "Description", "The stage; a stack for each"))...)
	}
	if len(t.Streams) > 0 {
		out = append(out, of(redriveParameter, of("Type", "String", "Default", "false", "AllowedValues", []string{"true", "false"},
			"Description", "true while batches that were given up are to be processed again"))...)
	}
	for _, s := range t.Settings {
		parameter := of("Type", "String", "Default", s.Default, "Description", s.About)
		if s.Secret {
			parameter = append(parameter, of("NoEcho", true)...)
		}
		out = append(out, of(s.Parameter, parameter)...)
		if s.Layer != "" {
			out = append(out, of(s.Layer, of("Type", "String", "Default", "", "Description", "ARN of the layer with the file of "+s.Parameter+", which Lambda puts below /opt"))...)
		}
	}
	return out
}

// conditions returns the template's conditions: whether each layer is given, and whether failed batches are redriven.
func (t Template) conditions() object {
	var out object
	if len(t.Streams) > 0 {
		out = of(redriven, of("Fn::Equals", []any{ref(redriveParameter), "true"}))
	}
	for _, s := range t.Settings {
		if s.Layer != "" {
			out = append(out, of("Has"+s.Layer, of("Fn::Not", []any{of("Fn::Equals", []any{ref(s.Layer), ""})}))...)
		}
	}
	return out
}

func (t Template) globals() object {
	variables := of(
		"COGNITO_USER_POOL_ID", ref(userPool), "COGNITO_CLIENT_ID", ref(userClient),
		"APP_CURSOR_KEY", sub("{{resolve:secretsmanager:${CursorKey}}}"),
	)
	variables = append(variables, of("APP_STAGE", ref(stageParameter), "APP_RATE", ref(callerRate))...)
	var layers []any
	for _, s := range t.Settings {
		variables = append(variables, of(s.Variable, ref(s.Parameter))...)
		if s.Layer != "" {
			layers = append(layers, of("Fn::If", []any{"Has" + s.Layer, ref(s.Layer), ref("AWS::NoValue")}))
		}
	}
	if t.Bucket != nil {
		variables = append(variables, of(t.Bucket.Variable, sub("s3://${"+bucketID+"}"))...)
	}
	function := of(
		"Runtime", "provided.al2023", "Architectures", []string{"arm64"}, "Handler", "bootstrap", "CodeUri", "dist/",
		"MemorySize", 256, "Timeout", 15, "Environment", of("Variables", variables),
		"Tracing", "Active", "LoggingConfig", of("LogGroup", ref("Logs"), "LogFormat", "JSON"), "AutoPublishAlias", "live",
	)
	if layers != nil {
		function = append(function, of("Layers", layers)...)
	}
	return of("Function", function)
}

func (t Template) resources(tb testing.TB, p *provisioned) object {
	tb.Helper()
	out := p.protected()
	out = append(out, of("Api", of("Type", "AWS::Serverless::HttpApi", "Properties", append(of(
		"StageName", "$default",
		"DefaultRouteSettings", of("ThrottlingRateLimit", ref(rateLimit), "ThrottlingBurstLimit", ref(burstLimit), "DetailedMetricsEnabled", true),
		"AccessLogSettings", of("DestinationArn", attribute("AccessLogs", "Arn"), "Format", accessLog),
		"CorsConfiguration", of(
			"AllowOrigins", ref(origins), "AllowMethods", listed(api.CORSMethods), "AllowHeaders", listed(api.CORSHeaders),
			"ExposeHeaders", listed(api.CORSExposed), "MaxAge", api.CORSMaxAge,
		),
	), t.authorizers()...)), "CursorKey", of("Type", "AWS::SecretsManager::Secret", "Properties", of(
		// Only hexadecimal digits.
		"Description", "Seals the cursors of "+t.Name, "GenerateSecretString", of(
			"PasswordLength", 64, "ExcludePunctuation", true, "ExcludeUppercase", true, "ExcludeCharacters", "ghijklmnopqrstuvwxyz",
			"RequireEachIncludedType", false,
		),
	)), "Logs", logGroup(), "AccessLogs", logGroup())...)
	out = append(out, t.Bucket.resource()...)
	watched := t.watched()
	for _, r := range t.Routes {
		id := logicalID(r.ID) + "Function"
		properties := of(
			"Description", r.Summary, "DeploymentPreference", watched.preference(id),
			"Policies", append(p.written(tb, r.ID), t.Bucket.policies(r.ID)...),
			"Events", of("Request", t.request(r)),
		)
		if memory := t.Memory[r.ID]; memory != 0 {
			properties = append(properties, of("MemorySize", memory)...)
		}
		out = append(out, of(id, of("Type", "AWS::Serverless::Function", "Properties", properties))...)
	}
	out = append(out, t.pages(tb, p, watched)...)
	for _, s := range t.Streams {
		out = append(out, t.follower(tb, p, s, watched)...)
	}
	for _, s := range t.Schedules {
		out = append(out, t.scheduled(tb, p, s, watched)...)
	}
	return slices.Concat(out, p.alarms(), watched.alarms(), serverErrors(), of("Dashboard", t.dashboard(tb, p, watched)))
}

// request returns a route's event.
func request(method, path string) object {
	return of("Type", "HttpApi", "Properties", of("ApiId", ref("Api"), "Method", strings.ToUpper(method), "Path", path))
}

// listed splits the list in a header.
func listed(values string) []string { return strings.Split(values, ", ") }

// authorizer is the name of the user pool's authorizer.
const authorizer = "Users"

// request returns the event of an operation's function.
func (t Template) request(r Route) object {
	event := request(r.Method, r.Path)
	if properties, ok := get(event, "Properties").(object); ok && r.Token && !t.signs() {
		event = of("Type", "HttpApi", "Properties", append(properties, of("Auth", of("Authorizer", authorizer))...))
	}
	return event
}

// signs reports whether the system can sign tokens itself.
func (t Template) signs() bool {
	return slices.ContainsFunc(t.Settings, func(s Setting) bool { return s.Variable == IssuerKey })
}

// authorizers returns the API's authorizers: the user pool's, in the Region with which the pool's id begins.
func (t Template) authorizers() object {
	if t.signs() {
		return nil
	}
	region := of("Fn::Select", []any{0, of("Fn::Split", []any{"_", ref(userPool)})})
	return of("Auth", of("Authorizers", of(authorizer, of(
		"IdentitySource", "$request.header.Authorization",
		"JwtConfiguration", of(
			"issuer", of("Fn::Sub", []any{"https://cognito-idp.${Region}.amazonaws.com/${" + userPool + "}", of("Region", region)}),
			"audience", []any{ref(userClient)},
		),
	))))
}

// pagesFunction is the id of the pages' function.
const pagesFunction = "PagesFunction"

// pages returns the function for the pages.
func (t Template) pages(tb testing.TB, p *provisioned, watched functions) object {
	tb.Helper()
	if t.Pages == nil {
		return nil
	}
	var requests object
	for _, path := range t.Pages.Paths {
		name := logicalID(path)
		if name == "" {
			name = "Home"
		}
		requests = append(requests, of(name, request("GET", path))...)
	}
	return of(pagesFunction, of("Type", "AWS::Serverless::Function", "Properties", of(
		"Description", "What browsers see beside the API", "DeploymentPreference", watched.preference(pagesFunction),
		"Policies", append(p.written(tb, OfPages), t.Bucket.policies("")...), "Events", requests,
	)))
}

// protected returns the design's resources with deletion protection for the tables, so that stacks do not delete them.
func (p *provisioned) protected() object {
	var out object
	for _, resource := range p.resources {
		of := append(object{}, resource.Value.(object)...) //nolint:forcetypeassert // a resource is a mapping
		for i, item := range of {
			if properties, ok := item.Value.(object); ok && item.Key == "Properties" && get(of, "Type") == "AWS::DynamoDB::Table" && get(properties, "DeletionProtectionEnabled") == nil {
				of[i].Value = append(slices.Clone(properties), yaml.MapItem{Key: "DeletionProtectionEnabled", Value: true})
			}
		}
		out = append(out, yaml.MapItem{Key: resource.Key, Value: of})
	}
	return out
}

// accessLog is the format of the API's access log.
const accessLog = `{"time":"$context.requestTime","request":"$context.requestId","ip":"$context.identity.sourceIp","route":"$context.routeKey",` +
	`"status":"$context.status","bytes":"$context.responseLength","ms":"$context.responseLatency","error":"$context.integrationErrorMessage"}`

func logGroup() object {
	return of("Type", "AWS::Logs::LogGroup", "Properties", of("RetentionInDays", ref(retention)))
}

// scheduled returns a function that runs at intervals.
func (t Template) scheduled(tb testing.TB, p *provisioned, s Schedule, watched functions) object {
	tb.Helper()
	id := logicalID(s.Name) + "Function"
	every := fmt.Sprintf("rate(%d minutes)", s.Every/time.Minute)
	if s.Every == time.Minute {
		every = "rate(1 minute)"
	}
	return of(id, of("Type", "AWS::Serverless::Function", "Properties", of(
		"Description", "Runs at intervals: "+s.Name, "Timeout", 60, "DeploymentPreference", watched.preference(id),
		"Policies", p.written(tb, "schedule "+s.Name),
		// The next run completes what a run has left, so runs are not retried.
		"Events", of("Time", of("Type", "ScheduleV2", "Properties", of(
			"ScheduleExpression", every, "Input", fmt.Sprintf(`{"schedule":%q}`, s.Name), "RetryPolicy", of("MaximumRetryAttempts", 0),
		))),
	)))
}

// queueVisibility is six times a function's timeout, as Lambda recommends for a queue that it polls.
const queueVisibility = 6 * 60

// follower returns a function that consumes a table's stream, with its dead-letter queue, an alarm for the queue, and a function
// that reads the records of failed batches from the stream and reprocesses them. The latter takes one message at a time, so that
// an error leaves only that message in the queue.
func (t Template) follower(tb testing.TB, p *provisioned, s Stream, watched functions) object {
	tb.Helper()
	id, source := logicalID(s.Name), p.table(tb, s.Table).id
	policies := append(p.written(tb, "stream "+s.Name), t.Bucket.policies(s.Name)...)
	rereads := slices.Concat(policies, []object{of("Version", "2012-10-17", "Statement", []object{of(
		"Effect", "Allow", "Action", rereading(), "Resource", attribute(source, "StreamArn"),
	)})})
	stream := of(
		"Stream", attribute(source, "StreamArn"), "StartingPosition", "TRIM_HORIZON", "BatchSize", 100,
		"MaximumRetryAttempts", 10, "BisectBatchOnFunctionError", true, "ParallelizationFactor", 4,
		"DestinationConfig", of("OnFailure", of("Type", "SQS", "Destination", attribute(id+"Failures", "Arn"))),
	)
	if s.Filter != "" {
		stream = append(stream, of("FilterCriteria", of("Filters", []object{of("Pattern", s.Filter)}))...)
	}
	return of(
		id+"Function", of("Type", "AWS::Serverless::Function", "Properties", of(
			"Description", "Follows "+s.Table+": "+s.Name, "Timeout", 60, "DeploymentPreference", watched.preference(id+"Function"), "Policies", policies,
			"Events", of("Changes", of("Type", "DynamoDB", "Properties", stream)),
		)),
		id+"RedriveFunction", of("Type", "AWS::Serverless::Function", "Properties", of(
			"Description", "Processes again what was given up: "+s.Name, "Timeout", 60, "DeploymentPreference", watched.preference(id+"RedriveFunction"),
			"Policies", rereads,
			"Events", of("Failures", of("Type", "SQS", "Properties", of(
				"Queue", attribute(id+"Failures", "Arn"), "BatchSize", 1, "Enabled", of("Fn::If", []any{redriven, true, false}),
			))),
		)),
		id+"Failures", of("Type", "AWS::SQS::Queue", "Properties", of(
			"MessageRetentionPeriod", 1209600, "VisibilityTimeout", queueVisibility, "SqsManagedSseEnabled", true,
		)),
		id+"AgeAlarm", alarm("What "+s.Name+" follows is five minutes old",
			"Namespace", "AWS/Lambda", "MetricName", "IteratorAge",
			"Dimensions", []object{of("Name", "FunctionName", "Value", ref(id+"Function"))},
			"Statistic", "Maximum", "Period", 60, "EvaluationPeriods", 3, "Threshold", 300_000,
		),
		id+"FailuresAlarm", alarm("Batches that "+s.Name+" has given up wait in a queue",
			"Namespace", "AWS/SQS", "MetricName", "ApproximateNumberOfMessagesVisible",
			"Dimensions", []object{of("Name", "QueueName", "Value", attribute(id+"Failures", "QueueName"))},
			"Statistic", "Maximum", "Period", 300, "EvaluationPeriods", 1, "Threshold", 0,
		),
	)
}
