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
		Routes:    []Route{{ID: "getMe", Method: "GET", Path: "/me"}, {ID: "list", Method: "GET", Path: "/orders"}, {ID: "ship", Method: "POST", Path: "/orders/{id}/ship"}},
		Functions: map[string][]string{"getMe": {"Profile", "Rename"}, "list": {"OrdersByStatus"}, "ship": {"Ship"}},
		Streams:   []Stream{{Name: "mail", Table: "Shop", Patterns: []string{"Place"}}},
		Schedules: []Schedule{{Name: "expiry", Every: time.Minute, Patterns: []string{"Ship"}}},
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
		"$.Resources.GetMeFunction.Properties.Policies[0].Statement[0].Resource[0].'Fn::GetAtt'[0]":                                   "ShopTable",
		"$.Resources.GetMeFunction.Properties.Policies[0].Statement[0].Condition.'ForAllValues:StringLike'.'dynamodb:LeadingKeys'[0]": "USER#*",
		"$.Resources.ListFunction.Properties.Policies[0].Statement[0].Resource[0].'Fn::Sub'":                                          "${ShopTable.Arn}/index/GSI1",
		"$.Resources.ListFunction.Properties.Policies[0].Statement[0].Action[0]":                                                      "dynamodb:Query",
		"$.Resources.ShipFunction.Properties.Events.Request.Properties.Method":                                                        "POST",
		"$.Resources.MailFunction.Properties.Events.Changes.Properties.Stream.'Fn::GetAtt'[1]":                                        "StreamArn",
		"$.Resources.MailFunction.Properties.Events.Changes.Properties.DestinationConfig.OnFailure.Type":                              "SQS",
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

// TestAlarms: every alarm tells somebody, every function is watched by one, and none of them by more metrics than an alarm has.
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
			t.Errorf("%v tells nobody", resource.Key)
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

// TestStatements: what generated code may have to read before it writes, it may read; all else may not.
func TestStatements(t *testing.T) {
	p := shopTemplate(t).provision(t)
	for pattern, want := range map[string][]string{
		"Profile": {"dynamodb:BatchGetItem", "dynamodb:GetItem"}, "OrdersByStatus": {"dynamodb:Query"}, "Rename": {"dynamodb:UpdateItem"}, "Place": {"dynamodb:PutItem"},
		"Ship": {"dynamodb:BatchGetItem", "dynamodb:ConditionCheckItem", "dynamodb:GetItem", "dynamodb:UpdateItem"},
	} {
		s := p.statements(t, []string{pattern})
		if len(s) != 1 || !slices.Equal(s[0].Action, want) {
			t.Errorf("%s may %+v, want %v", pattern, s, want)
		}
	}
	if s := p.statements(t, []string{"Profile", "Rename", "Ship"}); len(s) != 2 {
		t.Errorf("%+v, want one statement for the user's own, one for all", s)
	}
}

func TestPermitted(t *testing.T) {
	p := shopTemplate(t).provision(t)
	own := Access{Action: "dynamodb:UpdateItem", Table: "shop-test", Leading: "USER#u-1"}
	another := func(change func(*Access)) Access {
		a := own
		change(&a)
		return a
	}
	for _, c := range []struct {
		name     string
		patterns []string
		access   Access
		want     bool
	}{
		{"its own", []string{"Rename"}, own, true},
		{"another partition", []string{"Rename"}, another(func(a *Access) { a.Leading = "ORDER#1" }), false},
		{"any partition", []string{"Ship"}, another(func(a *Access) { a.Leading = "ORDER#1" }), true},
		{"another action", []string{"Rename"}, another(func(a *Access) { a.Action = "dynamodb:DeleteItem" }), false},
		{"another table", []string{"Rename"}, another(func(a *Access) { a.Table = "shop-prod" }), false},
		{"an index", []string{"Rename"}, another(func(a *Access) { a.Index = "GSI1" }), false},
		{"its index", []string{"OrdersByStatus"}, Access{Action: "dynamodb:Query", Table: "shop-test", Index: "GSI1", Leading: "STATUS#open"}, true},
		{"the table behind its index", []string{"OrdersByStatus"}, Access{Action: "dynamodb:Query", Table: "shop-test", Leading: "USER#1"}, false},
		{"nothing", nil, own, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := permitted(p.statements(t, c.patterns), "test", c.access); got != c.want {
				t.Errorf("permitted: %v, want %v", got, c.want)
			}
		})
	}
}

// TestLogicalID: CloudFormation takes letters and digits alone.
func TestLogicalID(t *testing.T) {
	for name, want := range map[string]string{"getMe": "GetMe", "order-mail": "OrderMail", "a b2": "AB2", "{stage}": "Stage"} {
		if got := logicalID(name); got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
}

// TestLike: a * stands for any text, wherever and however often.
func TestLike(t *testing.T) {
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
