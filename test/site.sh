#!/usr/bin/env bash
# Builds the site of website/docs and looks at it as a reader would: links, what it asks of others, and in a headless browser, where there is one, each page and the search.
#   test/site.sh         GARNET_TEST_INSTALL=no: with the packages that are there
# 77: nothing was tested, and the last line says why.
set -uo pipefail
cd "$(dirname "$0")/.."
skip() { echo "site: skipped, $1"; exit 77; }
fail() { echo "site: $1" >&2; exit 1; }
for tool in npm node; do command -v $tool >/dev/null || skip "there is no $tool"; done
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || skip "node is older than 20"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
cd website || exit 1
case "${GARNET_TEST_INSTALL:-yes}" in
  no|0|false) [ -e node_modules/.package-lock.json ] || skip "its packages are not there: npm ci in website" ;;
  *) timeout 120 npm ci --prefer-offline --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null >"$log" 2>&1 || skip "npm cannot install: $(tail -1 "$log")" ;;
esac
rm -rf ../artifacts/site
timeout 120 npm run build </dev/null >"$log" 2>&1 || { cat "$log"; fail "it cannot be built"; }
cd ..
echo "site: $(find artifacts/site -name '*.html' | wc -l) pages, $(du -sk artifacts/site | cut -f1) KiB"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
timeout 120 node test/site.mjs artifacts/site $browser || fail "is not as it should be"
[ -n "$browser" ] || { echo "site: no link leads nowhere or elsewhere; looked at by no browser, as there is no chromium"; exit 0; }
echo "site: no link leads nowhere or elsewhere; each page at two widths and the search in $("$browser" --version --no-sandbox 2>/dev/null)"
