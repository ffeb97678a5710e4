package appcore_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

// TestFaults: whatever fails internally, an operation returns 500 and reveals nothing else.
func TestFaults(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	if _, err := v.Database.DynamoDB.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("AppCore")}); err != nil {
		t.Fatal(err)
	}
	const notification = "AAABogDyvCwBogDyvByJfVkYlhiGS_4W"
	var cases []apitest.Case
	for _, r := range []apitest.Request{
		{Method: http.MethodGet, Path: "/me"},
		{Method: http.MethodPut, Path: "/me", Body: map[string]any{"email": "ana@mail.com", "name": "Ana"}},
		{Method: http.MethodPost, Path: "/transactions", Key: "k", Body: map[string]any{"amount": 500, "currency": "ARS"}},
		{Method: http.MethodGet, Path: "/transactions"},
		{Method: http.MethodGet, Path: "/transactions/" + nowhere},
		{Method: http.MethodGet, Path: "/transactions/global"},
		{Method: http.MethodGet, Path: "/notifications"},
		{Method: http.MethodPatch, Path: "/notifications/" + notification, Body: map[string]any{"read": true}},
	} {
		r.As = ana
		cases = append(cases, apitest.Case{
			Name: r.Method + " " + r.Path, Request: r, Status: http.StatusInternalServerError, Code: problem.CodeInternal,
			Check: func(tb testing.TB, response *apitest.Response) {
				tb.Helper()
				for _, inner := range []string{"AppCore", "dynamo", "Dynamo", "table", "Resource", ana} {
					if strings.Contains(string(response.Body), inner) {
						tb.Errorf("the response reveals %s: %s", inner, response.Body)
					}
				}
			},
		})
	}
	v.Run(t, cases)
}
