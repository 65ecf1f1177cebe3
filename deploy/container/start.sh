#!/bin/sh
# The container's start: secrets that are files become settings, the sample courses are indexed, the service begins.
set -eu

secrets=${SECRETS_DIR:-/run/secrets}
for name in ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTIPHON_TRACE_KEY ANTIPHON_OTLP_HEADERS ANTIPHON_NATS_URL; do
    # An empty file is none: without a key the offline reasoner answers.
    if [ -s "$secrets/$name" ]; then
        value=$(cat "$secrets/$name")
        export "$name=$value"
    fi
done
unset value

# One of several (deploy/docker-compose.cluster.yml) is told what to be; the courses are indexed once for all of them.
if [ $# -gt 0 ]; then
    exec antiphon "$@"
fi
# Indexing is incremental: courses already indexed cost a second.
antiphon index samples/courses
exec antiphon serve
