#!/usr/bin/env bash
# Tables of designs, as monotable provision --as createtable writes them, made with the AWS CLI: provision.sh PATH-TO-AWS,
# with the endpoint in AWS_ENDPOINT_URL_DYNAMODB and the program in MONOTABLE. Ends with status 1 at the first answer that is not the
# wanted one.
set -euo pipefail
aws=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

dynamodb() { "$aws" dynamodb --endpoint-url "$AWS_ENDPOINT_URL_DYNAMODB" --output text "$@" | xargs; }

# want WHAT EXPECTED GOT
want() {
  [ "$2" = "$3" ] || { printf '%s\n  want %s\n  got  %s\n' "$1" "$2" "$3" >&2; exit 1; }
}

# design FILE ORDERS LOGS writes a design with one table, or with two.
design() {
  {
    printf 'design: 1\nname: Shop\ntables:\n'
    printf '  Orders:\n    name: %s-{stage}\n    key: { pk: PK, sk: SK }\n    stream: NEW_IMAGE\n' "$2"
    printf '    indexes:\n      GSI1: { pk: GSI1PK, sk: "GSI1SK:N", project: [total] }\n      ByTotal: { local: true, sk: "total:N", project: keys }\n'
    [ -z "${3:-}" ] || printf '  Logs: { name: %s, key: { pk: day }, billing: provisioned }\n' "$3"
    printf 'entities:\n  Order:\n    table: Orders\n    key: { pk: "USER#{userId}", sk: "ORDER#{orderId}" }\n'
    printf '    index: { GSI1: { pk: "USER#{userId}", sk: "{total}" }, ByTotal: {} }\n'
    printf '    fields: { userId: id, orderId: ulid, total: money }\n'
    [ -z "${3:-}" ] || printf '  Log: { table: Logs, key: { pk: "{day}" }, fields: { day: date } }\n'
  } > "$1"
}

# One table: the request stands on the standard output.
design "$work/one.design.yaml" one
"$MONOTABLE" provision "$work/one.design.yaml" --as createtable --set stage=test > "$work/one.json"
want "create one" CREATING "$(dynamodb create-table --cli-input-json "file://$work/one.json" --query TableDescription.TableStatus)"
dynamodb wait table-exists --table-name one-test
want "describe one" "HASH PK RANGE SK GSI1 INCLUDE total ByTotal KEYS_ONLY NEW_IMAGE PAY_PER_REQUEST" "$(dynamodb describe-table --table-name one-test \
  --query 'Table.[KeySchema[].[KeyType, AttributeName][], GlobalSecondaryIndexes[].[IndexName, Projection.ProjectionType, Projection.NonKeyAttributes[0]][],
    LocalSecondaryIndexes[].[IndexName, Projection.ProjectionType][], [StreamSpecification.StreamViewType], [BillingModeSummary.BillingMode]][]')"

# Several: a file each.
design "$work/two.design.yaml" two logs
"$MONOTABLE" provision "$work/two.design.yaml" --as createtable --set stage=test -o "$work/tables"
want "a file for each table" 2 "$(find "$work/tables" -type f | wc -l)"
for file in "$work"/tables/*; do
  want "create $file" CREATING "$(dynamodb create-table --cli-input-json "file://$file" --query TableDescription.TableStatus)"
done
want "all tables" "logs one-test two-test" "$(dynamodb list-tables --query TableNames)"
