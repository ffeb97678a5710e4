package sam

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

const shop = `design: 1
name: Shop
tenant: userId
tables:
  Shop:
    name: "shop-{stage}"
    key: { pk: PK, sk: SK }
    stream: NEW_IMAGE
    indexes:
      GSI1: { pk: GSI1PK, sk: GSI1SK }
entities:
  User:
    key: { pk: "USER#{userId}", sk: PROFILE }
    fields: { userId: id, name: text }
  Order:
    key: { pk: "ORDER#{orderId}", sk: METADATA }
    index: { GSI1: { pk: "STATUS#{status}", sk: "{orderId}" } }
    fields: { userId: id, orderId: ulid, status: text }
reads:
  Profile: { one: User, by: [userId] }
  OrdersByStatus: { many: Order, by: [status], shared: Staff. }
writes:
  Rename: { do: [{ update: User, set: { name: ":name" } }] }
  Place: { do: [{ create: Order }] }
  Ship: { do: [{ update: Order, set: { status: "'shipped'" } }] }
`

func shopTemplate(t *testing.T) Template {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop.design.yaml")
	if err := os.WriteFile(file, []byte(shop), 0o600); err != nil {
		t.Fatal(err)
	}
	return Template{
		Name: "shop", Title: "Shop", Design: file,
		Routes:    []Route{{ID: "getMe", Method: "GET", Path: "/me", Token: true}, {ID: "list", Method: "GET", Path: "/orders"}, {ID: "ship", Method: "POST", Path: "/orders/{id}/ship"}},
		Functions: map[string][]string{"getMe": {"Profile", "Rename"}, "list": {"OrdersByStatus"}, "ship": {"Ship"}},
		Streams:   []Stream{{Name: "mail", Table: "Shop", Patterns: []string{"Place"}}},
		Schedules: []Schedule{{Name: "expiry", Every: time.Minute, Patterns: []string{"Ship"}}},
		Pages:     &Pages{Paths: []string{"/", "/p/{address}"}, Patterns: []string{"OrdersByStatus"}},
		Bucket: &Bucket{Variable: "SHOP_BUCKET", Uploads: "uploads", Access: map[string]map[string][]string{
			"ship": {"uploads": {"s3:PutObject"}}, "": {"images": {"s3:GetObject"}}, "mail": {"images": {"s3:DeleteObject"}},
		}},
		Memory: map[string]int{"ship": 1024},
		Settings: []Setting{
			{Variable: "SHOP_FROM", Parameter: "From", Default: "x"},
			{Variable: "SHOP_KEY", Parameter: "Key", Secret: true, Layer: "KeyLayer"},
		},
	}
}

// TestWrite reads the template as CloudFormation would.
func TestWrite(t *testing.T) {
	template := shopTemplate(t)
	var text strings.Builder
	template.Write(t, &text)
	for path, want := range map[string]string{
		"$.Parameters.Stage.Type":                                                                                                     "String",
		"$.Parameters.From.Default":                                                                                                   "x",
		"$.Globals.Function.Environment.Variables.APP_STAGE.Ref":                                                                      "Stage",
		"$.Globals.Function.Environment.Variables.SHOP_FROM.Ref":                                                                      "From",
		"$.Globals.Function.Environment.Variables.COGNITO_USER_POOL_ID.Ref":                                                           "UserPoolId",
		"$.Resources.ShopTable.Properties.TableName.'Fn::Sub'":                                                                        "shop-${Stage}",
		"$.Resources.ShopTable.Properties.StreamSpecification.StreamViewType":                                                         "NEW_IMAGE",
		"$.Resources.Api.Properties.DefaultRouteSettings.ThrottlingRateLimit.Ref":                                                     "ThrottleRate",
		"$.Resources.GetMeFunction.Properties.Events.Request.Properties.Path":                                                         "/me",
		"$.Resources.GetMeFunction.Properties.Policies[0].Statement[0].Resource.'Fn::GetAtt'[0]":                                      "ShopTable",
		"$.Resources.GetMeFunction.Properties.Policies[0].Statement[0].Condition.'ForAllValues:StringLike'.'dynamodb:LeadingKeys'[0]": "USER#*",
		"$.Resources.ListFunction.Properties.Policies[0].Statement[0].Resource.'Fn::Sub'":                                             "${ShopTable.Arn}/index/GSI1",
		"$.Resources.GetMeFunction.Properties.Policies[0].Statement[0].Condition.Null.'dynamodb:LeadingKeys'":                         "false",
		"$.Resources.ListFunction.Properties.Policies[0].Statement[0].Action[0]":                                                      "dynamodb:Query",
		"$.Resources.ShipFunction.Properties.Events.Request.Properties.Method":                                                        "POST",
		"$.Resources.MailFunction.Properties.Events.Changes.Properties.Stream.'Fn::GetAtt'[1]":                                        "StreamArn",
		"$.Resources.MailFunction.Properties.Events.Changes.Properties.DestinationConfig.OnFailure.Type":                              "SQS",
		"$.Resources.PagesFunction.Properties.Events.Home.Properties.Path":                                                            "/",
		"$.Resources.PagesFunction.Properties.Events.PAddress.Properties.Path":                                                        "/p/{address}",
		"$.Resources.PagesFunction.Properties.Policies[0].Statement[0].Action[0]":                                                     "dynamodb:Query",
		"$.Resources.PagesFunction.Properties.Policies[1].Statement[0].Resource.'Fn::Sub'":                                            "${Files.Arn}/images/*",
		"$.Resources.PagesFunction.Properties.Policies[1].Statement[1].Action[0]":                                                     "s3:ListBucket",
		"$.Resources.ShipFunction.Properties.Policies[1].Statement[0].Action[0]":                                                      "s3:PutObject",
		"$.Resources.ShipFunction.Properties.MemorySize":                                                                              "1024",
		"$.Resources.MailRedriveFunction.Properties.Policies[1].Statement[0].Action[0]":                                               "s3:DeleteObject",
		"$.Resources.Files.Properties.CorsConfiguration.CorsRules[0].AllowedMethods[0]":                                               "PUT",
		"$.Resources.Files.Properties.PublicAccessBlockConfiguration.BlockPublicAcls":                                                 "true",
		"$.Globals.Function.Environment.Variables.SHOP_BUCKET.'Fn::Sub'":                                                              "s3://${Files}",
		"$.Resources.ShopTableThrottleAlarm.Properties.Threshold":                                                                     "5",
		"$.Parameters.AlarmTopic.AllowedPattern":                                                                                      "arn:.+",
		"$.Parameters.Key.NoEcho":                                                                                                     "true",
		"$.Conditions.HasKeyLayer.'Fn::Not'[0].'Fn::Equals'[0].Ref":                                                                   "KeyLayer",
		"$.Globals.Function.Layers[0].'Fn::If'[1].Ref":                                                                                "KeyLayer",
		"$.Globals.Function.Tracing":                                                                                                  "Active",
		"$.Globals.Function.AutoPublishAlias":                                                                                         "live",
		"$.Globals.Function.LoggingConfig.LogGroup.Ref":                                                                               "Logs",
		"$.Resources.Logs.Properties.RetentionInDays.Ref":                                                                             "LogRetention",
		"$.Resources.Api.Properties.AccessLogSettings.DestinationArn.'Fn::GetAtt'[0]":                                                 "AccessLogs",
		"$.Resources.ShopTable.Properties.DeletionProtectionEnabled":                                                                  "true",
		"$.Resources.GetMeFunction.Properties.DeploymentPreference.Type.Ref":                                                          "Deployment",
		"$.Resources.GetMeFunction.Properties.DeploymentPreference.Alarms[0].Ref":                                                     "Functions1Alarm",
		"$.Resources.ServerErrorsAlarm.Properties.MetricName":                                                                         "5xx",
		"$.Resources.MailAgeAlarm.Properties.MetricName":                                                                              "IteratorAge",
		"$.Resources.MailAgeAlarm.Properties.AlarmActions[0].Ref":                                                                     "AlarmTopic",
		"$.Resources.ExpiryFunction.Properties.Events.Time.Properties.ScheduleExpression":                                             "rate(1 minute)",
		"$.Resources.ExpiryFunction.Properties.Events.Time.Properties.Input":                                                          `{\"schedule\":\"expiry\"}`,
		"$.Resources.Dashboard.Type":                                                                                                  "AWS::CloudWatch::Dashboard",
		"$.Resources.ShopTableThrottleAlarm.Properties.EvaluationPeriods":                                                             "2",
	} {
		p, err := yaml.PathString(path)
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := p.Read(strings.NewReader(text.String()), &got); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if text, _ := yaml.Marshal(got); strings.Trim(string(text), "\"\n") != want {
			t.Errorf("%s is %s, want %s", path, text, want)
		}
	}
}

// TestAuthorizer: routes that require a token have the user pool's authorizer, and others do not. A system that signs tokens
// itself has none at all.
func TestAuthorizer(t *testing.T) {
	template := shopTemplate(t)
	written := func() string {
		var text strings.Builder
		template.Write(t, &text)
		return text.String()
	}
	text := written()
	if n := strings.Count(text, "Authorizer: Users"); n != 1 {
		t.Errorf("%d routes have an authorizer, want that of /me alone", n)
	}
	for _, part := range []string{"issuer:", "https://cognito-idp.${Region}.amazonaws.com/${UserPoolId}", "audience:"} {
		if !strings.Contains(text, part) {
			t.Errorf("the template has no %s", part)
		}
	}
	template.Settings = append(template.Settings, Setting{Variable: IssuerKey, Parameter: "IssuerKey"})
	if strings.Contains(written(), "Authorizer") {
		t.Error("an authorizer would refuse the tokens that the system signs")
	}
}

// TestPipeline: each parameter comes from the environment, secrets as secrets. A deployed stage is sent a request.
func TestPipeline(t *testing.T) {
	var text strings.Builder
	shopTemplate(t).WritePipeline(t, &text)
	for _, want := range []string{
		"USER_POOL_ID: ${{ vars.USER_POOL_ID }}", "CALLER_RATE: ${{ vars.CALLER_RATE || '50' }}", "FROM: ${{ vars.FROM || 'x' }}",
		"KEY: ${{ secrets.KEY }}", `"Stage=$STAGE"`, `"Key=$KEY"`, "$url/orders: $status, want 200", "needs: dev",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the pipeline has no %s:\n%s", want, text.String())
		}
	}
}

// TestVariable: names are split into words.
func TestVariable(t *testing.T) {
	for name, want := range map[string]string{"UserPoolId": "USER_POOL_ID", "MailURL": "MAIL_URL", "TMDBToken": "TMDB_TOKEN", "Stage": "STAGE"} {
		if got := variableOf(name); got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
}

// TestAlarms: every alarm notifies the topic, every function has an alarm, and none exceeds the maximum number of metrics.
func TestAlarms(t *testing.T) {
	template := shopTemplate(t)
	p := template.provision(t)
	watched := map[string]bool{}
	for _, resource := range template.resources(t, p) {
		of := resource.Value.(object) //nolint:forcetypeassert // a resource is a mapping
		if get(of, "Type") != "AWS::CloudWatch::Alarm" {
			continue
		}
		properties := get(of, "Properties").(object) //nolint:forcetypeassert // as above
		if get(properties, "AlarmActions") == nil || get(properties, "OKActions") == nil {
			t.Errorf("%v notifies no topic", resource.Key)
		}
		metrics, _ := get(properties, "Metrics").([]object)
		if len(metrics) > 11 {
			t.Errorf("%v has %d metrics", resource.Key, len(metrics)-1)
		}
		for _, m := range metrics {
			stat, _ := get(m, "MetricStat").(object)
			metric, _ := get(stat, "Metric").(object)
			dimensions, _ := get(metric, "Dimensions").([]object)
			for _, d := range dimensions {
				if get(d, "Name") == "FunctionName" {
					watched[get(get(d, "Value").(object), "Ref").(string)] = true //nolint:forcetypeassert // as above
				}
			}
		}
	}
	for _, id := range template.watched() {
		if !watched[id] {
			t.Errorf("no alarm watches %s", id)
		}
	}
}

// TestUnneededStatementsAreFound: a statement is needed if an access is allowed by no other statement.
func TestUnneededStatementsAreFound(t *testing.T) {
	roles := shopTemplate(t).Roles(t, "test")
	access := func(action, table, index, leading string) Access {
		return Access{Action: "dynamodb:" + action, Table: table, Index: index, Leading: leading}
	}
	for _, c := range []struct {
		name     string
		function string
		access   Access
		idle     bool
	}{
		{"its own", "getMe", access("UpdateItem", "shop-test", "", "USER#u-1"), false},
		{"another partition", "getMe", access("UpdateItem", "shop-test", "", "ORDER#1"), true},
		{"another action", "getMe", access("DeleteItem", "shop-test", "", "USER#u-1"), true},
		{"another stage", "getMe", access("UpdateItem", "shop-prod", "", "USER#u-1"), true},
		{"an index", "getMe", access("UpdateItem", "shop-test", "GSI1", "USER#u-1"), true},
		{"what it changes", "ship", access("UpdateItem", "shop-test", "", "ORDER#1"), false},
		{"what it need not read, for it gives the whole key of the entry", "ship", access("GetItem", "shop-test", "", "ORDER#1"), true},
		{"somebody's, of what is everybody's", "ship", access("UpdateItem", "shop-test", "", "USER#u-1"), true},
		{"its index", "list", access("Query", "shop-test", "GSI1", "STATUS#open"), false},
		{"the table behind its index", "list", access("Query", "shop-test", "", "STATUS#open"), true},
		{"a follower's", "stream mail", access("PutItem", "shop-test", "", "ORDER#1"), false},
		{"a schedule's", "schedule expiry", access("UpdateItem", "shop-test", "", "ORDER#1"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := Roles{c.function: roles[c.function]}.Idle(map[string][]Access{c.function: {c.access}})
			if got := len(found) > 0; got != c.idle {
				t.Errorf("%+v leaves idle %q, want some: %v", c.access, found, c.idle)
			}
		})
	}
	twice := roles["list"]
	twice.Statement = append(twice.Statement, twice.Statement[0])
	found := Roles{"list": twice}.Idle(map[string][]Access{"list": {access("Query", "shop-test", "GSI1", "STATUS#open")}})
	if len(found) != 2 {
		t.Errorf("of a duplicate statement, unneeded are %q", found)
	}
}

// TestRoles: redrive functions may read the stream, and may do what the consumer may do.
func TestRoles(t *testing.T) {
	roles := shopTemplate(t).Roles(t, "test")
	follower, again := roles["stream mail"].Statement, roles["redrive mail"].Statement
	if len(follower) != 1 || len(again) != 2 || !permitted(again, Access{Action: "dynamodb:PutItem", Table: "shop-test", Leading: "ORDER#1"}) {
		t.Fatalf("the follower may %+v, what processes again %+v", follower, again)
	}
	if s := again[1]; s.Resource != tableARN+"shop-test/stream/*" || !slices.Equal(s.Action, rereading()) {
		t.Errorf("the stream is read by %+v", s)
	}
}

// TestLogicalID: logical ids consist of letters and digits only, as CloudFormation requires.
func TestLogicalID(t *testing.T) {
	for name, want := range map[string]string{"getMe": "GetMe", "order-mail": "OrderMail", "a b2": "AB2", "{stage}": "Stage"} {
		if got := logicalID(name); got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
}

// TestWildcardMatching: * matches any text, at any position and any number of times.
func TestWildcardMatching(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"USER#*", "USER#u-1", true},
		{"USER#*", "USER#", true},
		{"USER#*", "TX#1", false},
		{"USER#*#CARTA#*", "USER#u-1#CARTA#c-1", true},
		{"USER#*#CARTA#*", "USER#u-1#VIAJE#v-1", false},
		{"USER#*#CARTA", "USER#u-1#CARTA", true},
		{"USER#*#CARTA", "USER#u-1#CARTA#c-1", false},
		{"GLOBAL", "GLOBAL", true},
		{"GLOBAL", "GLOBAL_TX", false},
	} {
		if got := like(c.pattern, c.text); got != c.want {
			t.Errorf("like(%q, %q) is %v, want %v", c.pattern, c.text, got, c.want)
		}
	}
}
