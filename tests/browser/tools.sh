#!/bin/sh
# tools.sh types: checks types and format of the pages' JavaScript. tools.sh format: sets its format. tools.sh browser: installs what the browser's tests need. tools.sh clients FOLDER: installs the generators of clients, those from PyPI into an environment there.
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
clients)
    npm_packages || missing "NO openapi-typescript: its client is not tested; npm and a registry are needed." || exit
    # Written last, like npm's.
    test "$2/.installed" -nt ../clients/requirements.txt ||
        { "${2%/*}/bin/python" -m venv "$2" && "$2/bin/python" -m pip --disable-pip-version-check -q install -r ../clients/requirements.txt && touch "$2/.installed"; } ||
        missing "NO openapi-python-client and no openapi-generator: their clients are not tested; a registry is needed."
    ;;
esac
