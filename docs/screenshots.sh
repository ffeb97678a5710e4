#!/usr/bin/env bash
# Takes the screenshots in docs/screenshots: runs bin/demo in memory with sample data, and opens its console and pages in Chromium.
#   make build && docs/screenshots.sh
set -euo pipefail
cd "$(dirname "$0")/.."
out=docs/screenshots
mkdir -p $out
profile=$(mktemp -d)
bin/demo serve --memory --addr 127.0.0.1:18000 --web 127.0.0.1:18080 --sample 1k >"$profile/log" 2>&1 &
server=$!
trap 'kill $server; rm -rf "$profile"' EXIT
until curl -fs http://127.0.0.1:18080/ >/dev/null; do kill -0 $server; sleep 0.5; done

# take NAME WIDTH,HEIGHT ADDRESS [light|dark]
take() {
  local flags=(--headless=new --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --disable-background-networking --lang=en-US --user-data-dir="$profile/browser")
  [ "${4:-light}" = light ] || flags+=(--blink-settings=preferredColorScheme=0)
  chromium "${flags[@]}" --window-size="$2" --virtual-time-budget=9000 --screenshot="$out/$1.png" "$3" 2>/dev/null
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
take stream 1440,900 "$console#/tables/$table/stream"
take backups 1440,900 "$console#/tables/$table/backups"
take metrics 1440,900 "$console#/tables/$table/metrics"
take settings 1440,900 "$console#/tables/$table/settings"
take partiql 1440,900 "$console#/partiql"
take queries 1440,900 "$console#/queries"
take server 1440,900 "$console#/server"
take demo 1440,1000 http://127.0.0.1:18080/
