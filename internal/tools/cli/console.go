package cli

import (
	"net/http"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/monotable/monotable/internal/httpguard"
	"github.com/monotable/monotable/internal/inprocess"
	"github.com/monotable/monotable/internal/tools/console"
)

// besideConsole serves the console at the address of the API, which it calls as any client does.
func besideConsole(api http.Handler, flags *serveFlags, signIn bool) http.Handler {
	guard, _ := httpguard.New(flags.allowedHosts, nil) // the names have been checked
	return console.New(console.Options{
		Endpoint: "http://monotable.localhost/", Region: flags.region, Client: inprocess.Client{Handler: api},
		Credentials: credentials.NewStaticCredentialsProvider(placeholderKey, placeholderKey, ""), SignIn: signIn, Guard: guard,
	}).Beside(api)
}
