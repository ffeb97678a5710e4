#!/usr/bin/env bash
# Takes the screenshots in docs/screenshots: runs bin/demo with sample data in a temporary directory, and opens its console and pages in Chromium.
#   make build && docs/screenshots.sh
set -euo pipefail
cd "$(dirname "$0")/.."
out=docs/screenshots
mkdir -p $out
profile=$(mktemp -d)
bin/demo serve --data "$profile/data" --slow 1ms --disk-reserve 64MiB --addr 127.0.0.1:18000 --web 127.0.0.1:18080 --sample 1k >"$profile/log" 2>&1 &
server=$!
trap 'kill $server; rm -rf "$profile"' EXIT
until curl -fs http://127.0.0.1:18080/ >/dev/null; do kill -0 $server; sleep 0.5; done

# take NAME WIDTH,HEIGHT ADDRESS [light|dark]
take() {
  local flags=(--headless=new --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --disable-background-networking --force-prefers-reduced-motion --lang=en-US --user-data-dir="$profile/browser")
  [ "${4:-light}" = light ] || flags+=(--blink-settings=preferredColorScheme=0)
  chromium "${flags[@]}" --window-size="$2" --virtual-time-budget=30000 --screenshot="$out/$1.png" "$3" 2>/dev/null
}

console=http://127.0.0.1:18000/_console/
table=catfecito-serverless-dev
take tables 1440,900 "$console"
take items 1440,900 "$console#/tables/$table"
take items-dark 1440,900 "$console#/tables/$table" dark
take patterns 1440,900 "$console#/tables/$table/patterns"
take pattern 1440,900 "$console#/tables/$table/patterns/UserByID"
take map 1440,900 "$console#/tables/$table/map"
take map-phone 500,900 "$console#/tables/$table/map" dark
take checks 1440,900 "$console#/tables/$table/checks"
take collection 1440,900 "$console#/tables/$table?view=collection"
take entities 1440,900 "$console#/tables/$table?view=entities"
take json 1440,900 "$console#/tables/$table?view=json"
take create-table 1440,1300 "$console#/create"
take stream 1440,900 "$console#/tables/$table/stream"
take backups 1440,900 "$console#/tables/$table/backups"
take metrics 1440,900 "$console#/tables/$table/metrics"
take settings 1440,900 "$console#/tables/$table/settings"
take partiql 1440,900 "$console#/partiql"
# Bookmarks and history.
keep() { curl -fsS -H 'X-Monotable-Console: 1' --data "$2" "${console}queries/$1" >/dev/null; }
keep bookmarks '{"add":[{"title":"'$table' · GSI1 · GSI1PK = \"STATUS#paid\"","address":"#/tables/'$table'?index=GSI1&pk=STATUS%23paid"},{"title":"trinity-rooms · scan","address":"#/tables/trinity-rooms"}]}'
keep history '{"add":[{"title":"SELECT * FROM \"'$table'\" WHERE PK = '"'USER#ana'"'","address":"#/partiql"},{"title":"'$table' · GSI1 · GSI1PK = \"STATUS#paid\"","address":"#/tables/'$table'?index=GSI1&pk=STATUS%23paid"}]}'
take queries 1440,900 "$console#/queries"
take server 1440,900 "$console#/server"
take slow 1440,900 "$console#/server/slow"
take storage 1440,1000 "$console#/server/storage"
take storage-phone 500,1000 "$console#/server/storage" dark
# Comparing a table with its past needs a second of its recovery window, and a change after it.
aws() { AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=x AWS_DEFAULT_REGION=us-east-1 command aws --endpoint-url http://127.0.0.1:18000 dynamodb "$@" >/dev/null; }
key='{"PK":{"S":"USER#ana"},"SK":{"S":"PROFILE"}}'
aws create-table --table-name members --billing-mode PAY_PER_REQUEST --attribute-definitions AttributeName=PK,AttributeType=S AttributeName=SK,AttributeType=S \
  --key-schema AttributeName=PK,KeyType=HASH AttributeName=SK,KeyType=RANGE
aws update-continuous-backups --table-name members --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true
aws put-item --table-name members --item '{"PK":{"S":"USER#ana"},"SK":{"S":"PROFILE"},"name":{"S":"Ana Ruiz"},"city":{"S":"Oaxaca"},"points":{"N":"120"}}'
aws put-item --table-name members --item '{"PK":{"S":"USER#leo"},"SK":{"S":"PROFILE"},"name":{"S":"Leo Silva"},"city":{"S":"Puebla"}}'
second=$(($(date +%s) + 1)) # after all of the above
until [ "$(date +%s)" -gt "$second" ]; do sleep 0.1; done
aws update-item --table-name members --key "$key" --update-expression 'SET city = :c, points = :p' --expression-attribute-values '{":c":{"S":"Mérida"},":p":{"N":"145"}}'
aws delete-item --table-name members --key '{"PK":{"S":"USER#leo"},"SK":{"S":"PROFILE"}}'
take then-and-now 1440,900 "$console#/tables/members/past?at=$second"
take create-item 1440,900 "$console#/tables/members/new?from=$(printf %s "$key" | sed 's/"/%22/g; s/#/%23/g')"
take import 1440,900 "$console#/tables/members/import"
take history 1440,900 "$console#/tables/members/history?item=$(printf %s "$key" | sed 's/"/%22/g; s/#/%23/g')"
take history-phone 500,900 "$console#/tables/members/history?item=$(printf %s "$key" | sed 's/"/%22/g; s/#/%23/g')" dark
take demo 1440,1000 http://127.0.0.1:18080/
# These need clicks, or somebody else's requests: tests take them.
SCREENSHOTS="$profile/shots" go test -count=1 ./internal/tools/console >/dev/null \
  -run '^(TestCheckViews|TestObservePage|TestDesignViews|TestMembers|TestWarningsList|TestEdit|TestConflict|TestBulkEdit|TestKeyboard|TestTail|TestFiles|TestForm|TestItemHistory|TestBackups|TestSignInPage|TestTableLife|TestPartiQL)$/^desk$'
for name in race observe meaning members-three warnings edit diff conflict bulk-edit bulk-review palette keys tabs tail-open download import-csv code put-back restore sign-in delete-table empty; do
  cp "$profile/shots/console-$name-en-1440-light.png" $out/$name.png
done
