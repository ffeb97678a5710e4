#!/usr/bin/env bash
# Signed requests, and sessions of a role, through the AWS CLI: auth.sh PATH-TO-AWS, with the endpoint in
# AWS_ENDPOINT_URL_DYNAMODB and the access key of user ana. Ends with status 1 at the first answer that is not the wanted one.
set -euo pipefail
aws=$1

dynamodb() { "$aws" dynamodb --endpoint-url "$AWS_ENDPOINT_URL_DYNAMODB" "$@"; }
sts() { "$aws" sts --endpoint-url "$AWS_ENDPOINT_URL_DYNAMODB" --output text "$@"; }
cloudwatch() { "$aws" cloudwatch --endpoint-url "$AWS_ENDPOINT_URL_DYNAMODB" --output text "$@"; }

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

want "tables" "" "$(dynamodb list-tables --output text --query 'TableNames[]')"
want "metrics" "" "$(cloudwatch list-metrics --namespace AWS/DynamoDB --query 'Metrics[?MetricName==`Nonsense`]')"
want "ana" "arn:aws:iam::000000000000:user/ana" "$(sts get-caller-identity --query Arn)"
AWS_SECRET_ACCESS_KEY=wrong refused InvalidSignatureException "The request signature we calculated does not match" dynamodb list-tables
AWS_SECRET_ACCESS_KEY=wrong refused SignatureDoesNotMatch "The request signature we calculated does not match" sts get-caller-identity
AWS_ACCESS_KEY_ID=AKIANOBODY refused UnrecognizedClientException "The security token included in the request is invalid." dynamodb list-tables
AWS_ACCESS_KEY_ID=AKIANOBODY refused InvalidClientTokenId "The security token included in the request is invalid." sts get-caller-identity
refused MissingAuthenticationTokenException "Request is missing Authentication Token" dynamodb --no-sign-request list-tables

read -r AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN < <(sts assume-role --role-arn arn:aws:iam::000000000000:role/loader \
  --role-session-name night --duration-seconds 900 --tags Key=team,Value=blue --query 'Credentials.[AccessKeyId, SecretAccessKey, SessionToken]')
export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN
want "session" "arn:aws:sts::000000000000:assumed-role/loader/night" "$(sts get-caller-identity --query Arn)"
want "tables of the session" "" "$(dynamodb list-tables --output text --query 'TableNames[]')"
AWS_SESSION_TOKEN=AQ== refused UnrecognizedClientException "The security token included in the request is invalid." dynamodb list-tables
