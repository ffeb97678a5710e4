#!/usr/bin/env bash
# An orders table through the AWS CLI: awscli.sh PATH-TO-AWS, with the endpoint in AWS_ENDPOINT_URL_DYNAMODB
# (which this CLI is too old to read itself). Ends with status 1 at the first answer that is not the wanted one.
set -euo pipefail
aws=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

dynamodb() { "$aws" dynamodb --endpoint-url "$AWS_ENDPOINT_URL_DYNAMODB" "$@"; }

# text prints the selected values in one line, whatever the number of pages they came in.
text() { dynamodb --output text "$@" | xargs; }

# want WHAT EXPECTED GOT
want() {
  [ "$2" = "$3" ] || { printf '%s\n  want %s\n  got  %s\n' "$1" "$2" "$3" >&2; exit 1; }
}

# refused CODE MESSAGE-PART COMMAND…
refused() {
  local code=$1 message=$2 answer
  shift 2
  if answer=$("$@" 2>&1); then want "$*" "$code" "success: $answer"; fi
  case $answer in
    *"($code)"*"$message"*) ;;
    *) want "$*" "$code: $message" "$answer" ;;
  esac
}

# Create.
want "status in the answer" CREATING "$(text create-table --table-name orders --billing-mode PAY_PER_REQUEST \
  --attribute-definitions AttributeName=customer,AttributeType=S AttributeName=placed,AttributeType=N \
    AttributeName=status,AttributeType=S \
  --key-schema AttributeName=customer,KeyType=HASH AttributeName=placed,KeyType=RANGE \
  --global-secondary-indexes \
    'IndexName=by-status,KeySchema=[{AttributeName=status,KeyType=HASH},{AttributeName=placed,KeyType=RANGE}],Projection={ProjectionType=KEYS_ONLY}' \
  --query TableDescription.TableStatus)"
dynamodb wait table-exists --table-name orders
want "described" "ACTIVE by-status ACTIVE" "$(text describe-table --table-name orders \
  --query 'Table.[TableStatus, GlobalSecondaryIndexes[0].IndexName, GlobalSecondaryIndexes[0].IndexStatus]')"
want "tables" orders "$(text list-tables --query 'TableNames[]')"
refused ResourceInUseException "Table already exists: orders" \
  dynamodb create-table --table-name orders --billing-mode PAY_PER_REQUEST \
  --attribute-definitions AttributeName=k,AttributeType=S --key-schema AttributeName=k,KeyType=HASH

# Write and read: all ten types come back as they went in.
item='{"customer": {"S": "ana"}, "placed": {"N": "1"}, "status": {"S": "open"}, "total": {"N": "12345678901234567890.5"},
  "seal": {"B": "AAEC/w=="}, "gift": {"BOOL": true}, "note": {"NULL": true}, "tags": {"SS": ["new", "vip"]},
  "weights": {"NS": ["1", "2.5"]}, "scans": {"BS": ["AQ==", "Ag=="]},
  "lines": {"L": [{"M": {"sku": {"S": "café"}, "quantity": {"N": "2"}}}, {"S": ""}]}}'
dynamodb put-item --table-name orders --item "$item"
same() { /usr/bin/python3 -c '
import json, sys
def plain(v):
    return {k: sorted(x) if k in ("SS", "NS", "BS") else plain(x) for k, x in v.items()} if isinstance(v, dict) \
        else [plain(x) for x in v] if isinstance(v, list) else v
sys.exit(plain(json.loads(sys.argv[1])) != plain(json.loads(sys.argv[2])))' "$1" "$2"; }
got=$(dynamodb get-item --table-name orders --key '{"customer": {"S": "ana"}, "placed": {"N": "1.0"}}' \
  --consistent-read --query Item)
same "$item" "$got" || want "item" "$item" "$got"
refused ConditionalCheckFailedException "The conditional request failed" \
  dynamodb put-item --table-name orders --item "$item" --condition-expression 'attribute_not_exists(customer)'
refused ValidationException "reserved keyword: status" \
  dynamodb update-item --table-name orders --key '{"customer": {"S": "ana"}, "placed": {"N": "1"}}' \
  --update-expression 'SET status = :s' --expression-attribute-values '{":s": {"S": "paid"}}'
want "updated" "3 paid" "$(text update-item --table-name orders \
  --key '{"customer": {"S": "ana"}, "placed": {"N": "1"}}' \
  --update-expression 'SET #status = :s, #lines[0].quantity = #lines[0].quantity + :one' \
  --expression-attribute-names '{"#status": "status", "#lines": "lines"}' \
  --expression-attribute-values '{":s": {"S": "paid"}, ":one": {"N": "1"}}' \
  --return-values UPDATED_NEW --query 'Attributes.[lines.L[0].M.quantity.N, status.S]')"

# A batch, then pages: the CLI follows LastEvaluatedKey, and makes a token of its own from it.
batch='{"orders": ['
for placed in $(seq 2 10); do
  batch+="{\"PutRequest\": {\"Item\": {\"customer\": {\"S\": \"ana\"}, \"placed\": {\"N\": \"$placed\"}, \"status\": {\"S\": \"open\"}}}},"
done
want "unprocessed" 0 "$(text batch-write-item --request-items "${batch%,}]}" --query 'length(UnprocessedItems)')"
query=(query --table-name orders --key-condition-expression 'customer = :c AND placed BETWEEN :lo AND :hi'
  --expression-attribute-values '{":c": {"S": "ana"}, ":lo": {"N": "2"}, ":hi": {"N": "10"}}')
want "numbers in order" "10 9 8 7 6 5 4 3 2" \
  "$(text "${query[@]}" --no-scan-index-forward --page-size 4 --query 'Items[].placed.N')"
token=$(dynamodb "${query[@]}" --max-items 4 --query NextToken | tr -d '"')
want "from the token on" "6 7 8 9 10" \
  "$(text "${query[@]}" --starting-token "$token" --query 'Items[].placed.N')"
want "through the index" 9 "$(text query --table-name orders --index-name by-status --select COUNT \
  --key-condition-expression '#status = :s' --expression-attribute-names '{"#status": "status"}' \
  --expression-attribute-values '{":s": {"S": "open"}}' --query Count)"
want "scan, filtered" "9 10" "$(text scan --table-name orders --page-size 3 --filter-expression 'placed > :p' \
  --expression-attribute-values '{":p": {"N": "8"}}' --query 'Items[].placed.N')"
want "batch get" "2 3" "$(text batch-get-item --request-items '{"orders": {"Keys": [
  {"customer": {"S": "ana"}, "placed": {"N": "2"}}, {"customer": {"S": "ana"}, "placed": {"N": "3"}},
  {"customer": {"S": "ana"}, "placed": {"N": "99"}}]}}' --query 'sort(Responses.orders[].placed.N)')"

# Transact.
pay() {
  printf '[{"Update": {"TableName": "orders", "Key": {"customer": {"S": "ana"}, "placed": {"N": "2"}},
    "UpdateExpression": "SET #s = :paid", "ConditionExpression": "#s = :open",
    "ExpressionAttributeNames": {"#s": "status"},
    "ExpressionAttributeValues": {":paid": {"S": "paid"}, ":open": {"S": "open"}}}},
    {"Put": {"TableName": "orders", "Item": {"customer": {"S": "receipts"}, "placed": {"N": "%s"}}}}]' "$1"
}
dynamodb transact-write-items --transact-items "$(pay 1)"
refused TransactionCanceledException "[ConditionalCheckFailed, None]" \
  dynamodb transact-write-items --transact-items "$(pay 2)"
want "one receipt, paid" "paid 1 None" "$(text transact-get-items --transact-items '[
  {"Get": {"TableName": "orders", "Key": {"customer": {"S": "ana"}, "placed": {"N": "2"}}}},
  {"Get": {"TableName": "orders", "Key": {"customer": {"S": "receipts"}, "placed": {"N": "1"}}}},
  {"Get": {"TableName": "orders", "Key": {"customer": {"S": "receipts"}, "placed": {"N": "2"}}}}]' \
  --query '[Responses[0].Item.status.S, Responses[1].Item.placed.N, Responses[2].Item.placed.N]')"

# Statements: AWS's examples for the CLI, in the Music table of its guide.
dynamodb create-table --table-name Music --billing-mode PAY_PER_REQUEST \
  --attribute-definitions AttributeName=Artist,AttributeType=S AttributeName=SongTitle,AttributeType=S \
  --key-schema AttributeName=Artist,KeyType=HASH AttributeName=SongTitle,KeyType=RANGE >/dev/null
dynamodb wait table-exists --table-name Music
statement() { dynamodb execute-statement --statement "$@"; }
song="WHERE Artist='Acme Band' AND SongTitle='PartiQL Rocks'"
statement "INSERT INTO Music VALUE {'Artist':'Acme Band','SongTitle':'PartiQL Rocks'}" >/dev/null
refused DuplicateItemException "Duplicate primary key exists in table" \
  statement "INSERT INTO Music VALUE {'Artist':'Acme Band','SongTitle':'PartiQL Rocks'}"
statement "UPDATE Music SET AwardsWon=1 SET AwardDetail={'Grammys':[2020, 2018]} $song" >/dev/null
statement "UPDATE Music SET AwardDetail.Grammys =list_append(AwardDetail.Grammys,[2016]) $song" >/dev/null
statement "UPDATE Music REMOVE AwardDetail.Grammys[2] $song" >/dev/null
statement "UPDATE Music SET AwardDetail.BillBoard=[2020] $song" >/dev/null
statement "UPDATE Music SET BandMembers =<<'member1', 'member2'>> $song" >/dev/null
statement "UPDATE Music SET BandMembers =set_add(BandMembers, <<'newmember'>>) $song" >/dev/null
want "the song" "1 2018 2020 member1 member2 newmember" "$(text execute-statement --statement "SELECT * FROM Music $song" \
  --query 'Items[0].[AwardsWon.N, AwardDetail.M.Grammys.L[1].N, AwardDetail.M.BillBoard.L[0].N, sort(BandMembers.SS)[0], sort(BandMembers.SS)[1], sort(BandMembers.SS)[2]]')"
cat >"$work/transaction.json" <<'END'
[{"Statement": "EXISTS(SELECT * FROM Music where Artist='Acme Band' and SongTitle='PartiQL Rocks' and Awards is  MISSING)"},
 {"Statement": "INSERT INTO Music value {'Artist':?,'SongTitle':?}", "Parameters": [{"S": "Acme Band"}, {"S": "Best Song"}]}]
END
dynamodb execute-transaction --transact-statements "file://$work/transaction.json" >/dev/null
refused TransactionCanceledException "[None, DuplicateItem]" \
  dynamodb execute-transaction --transact-statements "file://$work/transaction.json"
cat >"$work/batch.json" <<'END'
[{"Statement": "DELETE FROM Music WHERE Artist='Acme Band' AND SongTitle='Best Song'"}, {"Statement": "DELETE FROM Music"}]
END
want "errors of a batch" ValidationError \
  "$(text batch-execute-statement --statements "file://$work/batch.json" --query 'Responses[].Error.Code')"
statement "DELETE  FROM Music $song" >/dev/null
want "no song" 0 "$(text execute-statement --statement "SELECT * FROM Music" --query 'length(Items)')"

# Delete.
want "old total" 12345678901234567890.5 "$(text delete-item --table-name orders \
  --key '{"customer": {"S": "ana"}, "placed": {"N": "1"}}' --return-values ALL_OLD --query Attributes.total.N)"
want "time to live" ttl "$(text update-time-to-live --table-name orders \
  --time-to-live-specification Enabled=true,AttributeName=ttl --query TimeToLiveSpecification.AttributeName)"
want "status in the answer" DELETING "$(text delete-table --table-name orders --query TableDescription.TableStatus)"
dynamodb wait table-not-exists --table-name orders
refused ResourceNotFoundException "Requested resource not found: Table: orders not found" \
  dynamodb describe-table --table-name orders
