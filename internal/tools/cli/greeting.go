package cli

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/tools/console"
)

// dialable is the address under which this machine reaches a listener: loopback for one that listens on every address,
// because browsers cannot open "http://[::]:8000".
func dialable(addr net.Addr) string {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil || !at.Addr().IsUnspecified() {
		return addr.String()
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
}

// printFirstSteps prints the first steps, which are not for the readers of an audit log. root is a key that was just created.
func printFirstSteps(env Environment, flags *serveFlags, url string, signed bool, root *monotable.AccessKey) {
	out := env.Stdout
	if flags.audit.file == auditStdout {
		out = env.Stderr
	}
	where := fmt.Sprintf("data in %s, durability %s", flags.data, flags.durability)
	switch {
	case flags.memory:
		where = "data in memory, lost on exit"
	case flags.store != "":
		where = "data in PostgreSQL"
		if strings.HasPrefix(flags.store, "tikv://") {
			where = "data in TiKV"
		}
	}
	fmt.Fprintf(out, "monotable: DynamoDB API at %s (%s)\n\n", url, where)
	if root != nil {
		fmt.Fprintf(out, "The root access key. It may do everything, and is not shown again:\n\n"+
			"  export AWS_ACCESS_KEY_ID=%s\n  export AWS_SECRET_ACCESS_KEY=%s\n\n", root.ID, root.Secret)
	}
	page := ""
	if flags.console {
		page = fmt.Sprintf("  page   %s%s\n", url, console.Path)
	}
	goCredentials, jsCredentials := "aws.AnonymousCredentials{}", `{accessKeyId: "x", secretAccessKey: "x"}`
	if signed {
		fmt.Fprintf(out, "Requests must be signed with an access key: see %s iam --help.\n\n", env.Program)
		goCredentials, jsCredentials = "cfg.Credentials", "fromEnv()"
	}
	fmt.Fprintf(out, `%[7]s  shell  eval "$(%[3]s env --endpoint %[1]s)"
         aws dynamodb list-tables --endpoint-url %[1]s
  Go     dynamodb.New(dynamodb.Options{BaseEndpoint: aws.String(%[1]q), Region: %[4]q, Credentials: %[5]s})
  JS     new DynamoDBClient({endpoint: %[1]q, region: %[4]q, credentials: %[6]s})

Stop with Ctrl-C.
`, url, where, env.Program, flags.region, goCredentials, jsCredentials, page)
}
