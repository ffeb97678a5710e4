package cli

import "fmt"

// greet tells whoever started the server what to do next.
func greet(env Environment, flags *serveFlags, url string) {
	where := fmt.Sprintf("data in %s, durability %s", flags.data, flags.durability)
	if flags.memory {
		where = "data in memory, gone at the end"
	}
	fmt.Fprintf(env.Stdout, `monotable: DynamoDB API at %[1]s (%[2]s)

  shell  eval "$(%[3]s env --endpoint %[1]s)"
         aws dynamodb list-tables --endpoint-url %[1]s
  Go     dynamodb.New(dynamodb.Options{BaseEndpoint: aws.String(%[1]q), Region: %[4]q, Credentials: aws.AnonymousCredentials{}})
  JS     new DynamoDBClient({endpoint: %[1]q, region: %[4]q, credentials: {accessKeyId: "x", secretAccessKey: "x"}})

Stop with Ctrl-C.
`, url, where, env.Program, flags.region)
}
