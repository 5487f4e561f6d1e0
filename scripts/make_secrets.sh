#!/bin/sh
# Makes the secrets that docker-compose.yml reads, in secrets/; keeps those that are there already.
# The folder is closed and its files are open: containers mount single files and don't run as you.
set -eu

mkdir -p secrets
chmod 700 secrets
cd secrets

put() { # NAME COMMAND…
    name=$1
    shift
    [ -e "$name" ] && return
    "$@" >"$name.new"
    chmod 444 "$name.new"
    mv "$name.new" "$name"
}

random_text() { head -c 48 /dev/urandom | base64 | tr -d '\n' | tr '+/' '-_'; }
random_hex() { head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n'; }
random_fernet() { head -c 32 /dev/urandom | base64 | tr -d '\n' | tr '+/' '-_'; }
database_url() { printf 'postgres://aml:%s@postgres:5432/aml' "$(cat postgres_password)"; }

put secret_key random_text
put key_pepper random_text
put encryption_keys random_fernet
put signing_key random_hex
put metrics_token random_hex
put postgres_password random_hex
put database_url database_url
# Empty means unset; write the values in where there are any.
put email_password true
put openai_api_key true
echo "Secrets are in secrets/. Back up encryption_keys and signing_key: what they protect can't be read without."
