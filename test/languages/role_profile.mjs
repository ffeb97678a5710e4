// Lists the tables with the credentials of the profile that AWS_PROFILE names, which takes a role.
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";

const client = new DynamoDBClient({});
await client.send(new ListTablesCommand({}));
const { accessKeyId, sessionToken } = await client.config.credentials();
if (!accessKeyId.startsWith("ASIA") || !sessionToken) {
  throw new Error(`not the credentials of a session: ${accessKeyId}`);
}
