#!/bin/sh
# tools.sh types: checks types and format of the pages' JavaScript. tools.sh format: sets its format. tools.sh browser: installs what the browser's tests need.
# What cannot be had here is said loudly and passed over; where CI is set, that is a failure.
cd "$(dirname "$0")" || exit 1

missing() {
    echo "!!! $1" >&2
    test -z "$CI"
}

npm_packages() {
    command -v npm >/dev/null || return 1
    # npm writes this file last, and nothing is to be done while it is newer than what it was made from.
    test node_modules/.package-lock.json -nt package-lock.json || npm ci --silent --no-audit --no-fund
}

formatted() {
    node_modules/.bin/prettier --config prettier.json --log-level warn "$1" ../../api/web --ignore-path /dev/null '!../../api/web/index.html'
}

case "$1" in
types)
    npm_packages || { missing "THE PAGES' JAVASCRIPT IS NOT CHECKED: node and npm are needed, and a registry."; exit; }
    node_modules/.bin/tsc -p . && formatted --check && echo "JavaScript: no type is wrong."
    ;;
format)
    formatted --write
    ;;
browser)
    npm_packages || missing "NO axe-core: the pages' accessibility is not tested; npm and a registry are needed." || exit
    if ! command -v chromium >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends chromium; } >/dev/null
    fi
    command -v chromium >/dev/null || missing "NO BROWSER: the pages are not tested; install chromium (Debian: apt-get install chromium)."
    ;;
esac
