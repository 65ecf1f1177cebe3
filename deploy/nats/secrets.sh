#!/bin/sh
# Makes what the servers and the service know one another by, once: `sh deploy/nats/secrets.sh FOLDER HOST…`.
# FOLDER gets auth.conf for the servers, ANTIPHON_NATS_URL for the service, and GRAFANA_PASSWORD.
set -eu
folder=$1
shift
mkdir -p "$folder"
chmod 700 "$folder"
umask 077
# The servers run as another user than whoever makes the files.
if [ ! -s "$folder/auth.conf" ]; then
    password=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
    printf 'authorization { user: antiphon, password: "%s" }\n' "$password" > "$folder/auth.conf"
    url=
    for host in "$@"; do
        url="$url${url:+,}nats://antiphon:$password@$host"
    done
    printf '%s' "$url" > "$folder/ANTIPHON_NATS_URL"
    od -An -N12 -tx1 /dev/urandom | tr -d ' \n' > "$folder/GRAFANA_PASSWORD"
fi
# Compose hands a file on with its owner and mode: those in the containers must read it, and the folder keeps others out.
chmod 644 "$folder"/auth.conf "$folder"/ANTIPHON_NATS_URL "$folder"/GRAFANA_PASSWORD
