#!/usr/bin/env bash
# Metrics of a table through the AWS CLI: cloudwatch.sh PATH-TO-AWS, with the endpoint in AWS_ENDPOINT_URL_DYNAMODB.
# Ends with status 1 at the first answer that is not the wanted one.
set -euo pipefail
aws=$1
start=$(date -u +%FT%H:%M:00Z)

dynamodb() { "$aws" dynamodb --endpoint-url "$AWS_ENDPOINT_URL_DYNAMODB" "$@"; }
cloudwatch() { "$aws" cloudwatch --endpoint-url "$AWS_ENDPOINT_URL_DYNAMODB" --output text "$@"; }

# statistics METRIC PERIOD FURTHER…: of the hour since the start.
statistics() {
  cloudwatch get-metric-statistics --namespace AWS/DynamoDB --metric-name "$1" --period "$2" \
    --start-time "$start" --end-time "$(date -u -d '+1 hour' +%FT%TZ)" "${@:3}"
}

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

dynamodb create-table --table-name orders --billing-mode PAY_PER_REQUEST \
  --attribute-definitions AttributeName=pk,AttributeType=S --key-schema AttributeName=pk,KeyType=HASH >/dev/null
dynamodb put-item --table-name orders --item '{"pk":{"S":"a"}}'
dynamodb put-item --table-name orders --item '{"pk":{"S":"b"}}'
dynamodb get-item --table-name orders --key '{"pk":{"S":"a"}}' --consistent-read >/dev/null
if dynamodb put-item --table-name orders --item '{"pk":{"S":"a"}}' \
  --condition-expression 'attribute_not_exists(pk)' 2>/dev/null; then exit 1; fi

of_orders=(--dimensions Name=TableName,Value=orders)
want "units written" "3.0 3.0" "$(statistics ConsumedWriteCapacityUnits 3600 --statistics Sum SampleCount "${of_orders[@]}" \
  --query 'Datapoints[].[Sum, SampleCount]' | xargs)"
want "units read" "1.0 Count" "$(statistics ConsumedReadCapacityUnits 3600 --statistics Sum "${of_orders[@]}" \
  --query 'Datapoints[].[Sum, Unit]' | xargs)"
want "failed conditions" 1.0 "$(statistics ConditionalCheckFailedRequests 3600 --statistics Sum "${of_orders[@]}" \
  --query 'Datapoints[].Sum')"
want "latencies" Milliseconds "$(statistics SuccessfulRequestLatency 3600 --extended-statistics p50 p99.9 \
  --dimensions Name=TableName,Value=orders Name=Operation,Value=PutItem --query 'Datapoints[].Unit')"
want "no such metric" "" "$(statistics Nonsense 60 --statistics Sum --query 'Datapoints[].Sum')"
want "listed" "TableName=orders" "$(cloudwatch list-metrics --namespace AWS/DynamoDB \
  --metric-name ConsumedWriteCapacityUnits --query 'Metrics[].Dimensions[].[Name, Value]' | sed 's/\t/=/')"
want "data" "written Complete 3.0" "$(cloudwatch get-metric-data --start-time "$start" \
  --end-time "$(date -u -d '+1 hour' +%FT%TZ)" --scan-by TimestampAscending --metric-data-queries '[{"Id": "written",
    "MetricStat": {"Metric": {"Namespace": "AWS/DynamoDB", "MetricName": "ConsumedWriteCapacityUnits",
    "Dimensions": [{"Name": "TableName", "Value": "orders"}]}, "Period": 3600, "Stat": "Sum"}}]' \
  --query 'MetricDataResults[].[Id, StatusCode, Values[0]]' | xargs)"

want "metric math" "rate 3.0" "$(cloudwatch get-metric-data --start-time "$start" \
  --end-time "$(date -u -d '+1 hour' +%FT%TZ)" --metric-data-queries '[{"Id": "written", "ReturnData": false,
    "MetricStat": {"Metric": {"Namespace": "AWS/DynamoDB", "MetricName": "ConsumedWriteCapacityUnits",
    "Dimensions": [{"Name": "TableName", "Value": "orders"}]}, "Period": 3600, "Stat": "Sum"}},
    {"Id": "rate", "Expression": "SUM(METRICS()) / PERIOD(written) * 3600"}]' \
  --query 'MetricDataResults[].[Id, Values[0]]' | xargs)"

dynamodb update-contributor-insights --table-name orders --contributor-insights-action ENABLE >/dev/null
dynamodb put-item --table-name orders --item '{"pk":{"S":"c"}}'
dynamodb put-item --table-name orders --item '{"pk":{"S":"d"}}'
dynamodb get-item --table-name orders --key '{"pk":{"S":"d"}}' --consistent-read >/dev/null
rule=$(dynamodb describe-contributor-insights --table-name orders --output text --query 'ContributorInsightsRuleList[0]')
report() {
  cloudwatch get-insight-rule-report --rule-name "$1" --period 3600 --start-time "$start" \
    --end-time "$(date -u -d '+1 hour' +%FT%TZ)" "${@:2}"
}
want "ranking" "d 2.0 c 1.0" "$(report "$rule" --query 'Contributors[].[Keys[0], ApproximateAggregateValue]' | xargs)"
want "rule" "pk SUM 3.0 2" "$(report "$rule" --query '[KeyLabels[0], AggregationStatistic, AggregateValue, ApproximateUniqueCount]' | xargs)"
want "datapoints" "3.0 3.0" "$(report "$rule" --metrics Sum SampleCount --query 'MetricDatapoints[].[Sum, SampleCount]' | xargs)"
refused ResourceNotFoundException "has the rule none" report none

refused InvalidParameterValue Period statistics UserErrors 61 --statistics Sum
refused InvalidParameterCombination Statistics statistics UserErrors 60
refused InvalidAction DescribeAlarms cloudwatch describe-alarms
