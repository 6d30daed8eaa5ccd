#!/bin/sh
# A private PostgreSQL server for tests and benchmarks: in a folder of its own, on a Unix socket, as an unprivileged user.
#   postgres.sh start FOLDER            makes and starts it; exit 77 with a line when PostgreSQL is not installed
#   postgres.sh again FOLDER            starts one that was stopped
#   postgres.sh stop FOLDER [MODE]      stops it: fast (default), or immediate, as if the power failed
#   postgres.sh end FOLDER              stops it and removes the folder
#   postgres.sh database FOLDER NAME    makes a database and prints its name for --db
#   postgres.sh sql FOLDER NAME SQL     runs SQL as the owner and prints the rows, unaligned
#   postgres.sh file FOLDER NAME FILE   the same of a file
# OPTIONS are settings of the server, "-c NAME=VALUE ...". fsync is off: what is stopped here is the server, not the machine.
set -eu
what=$1 folder=$2

bin=$({ pg_config --bindir; ls -d /usr/lib/postgresql/*/bin; } 2> /dev/null | sort -V | while read -r b; do
    [ ! -x "$b/initdb" ] || [ ! -x "$b/pg_ctl" ] || echo "$b"
done | tail -n 1)
[ -n "$bin" ] || { echo "skipped: PostgreSQL is not installed (Debian: postgresql)"; exit 77; }

# The server refuses to run as root.
as_user() {
    if [ "$(id -u)" = 0 ]; then
        (cd / && setpriv --reuid=nobody --regid=nogroup --clear-groups -- env HOME="$folder" "$@")
    else
        "$@"
    fi
}

control() { # ACTION...: a server that outlives this script has none of its files open
    as_user "$bin/pg_ctl" -s -w -t 120 -D "$folder/data" "$@" > "$folder/control.log" 2>&1 < /dev/null ||
        { cat "$folder/control.log" "$folder/server.log" >&2; return 1; }
}

run() {
    control -l "$folder/server.log" -o "-c listen_addresses= -c unix_socket_directories='$folder'
        -c shared_buffers=32MB -c max_connections=60 -c fsync=off ${OPTIONS:-}" start
}

case $what in
start)
    mkdir -p "$folder"
    [ "$(id -u)" != 0 ] || { chown nobody:nogroup "$folder"; chmod 755 "$folder"; }
    as_user "$bin/initdb" -A trust -N -U assay --no-instructions -E UTF8 --locale=C -D "$folder/data" \
        > "$folder/initdb.log" 2>&1 || { cat "$folder/initdb.log" >&2; exit 1; }
    run
    ;;
again) run ;;
stop) control -m "${3:-fast}" stop ;;
end)
    control -m immediate stop 2> /dev/null || :
    rm -rf "$folder"
    ;;
database)
    PGOPTIONS=--client-min-messages=warning "$bin/psql" -q -X -h "$folder" -U assay -d postgres \
        -c "CREATE DATABASE \"$3\""
    echo "postgresql://assay@/$3?host=$folder"
    ;;
sql) "$bin/psql" -q -X -A -t -v ON_ERROR_STOP=1 -h "$folder" -U assay -d "$3" -c "$4" ;;
file) "$bin/psql" -q -X -A -t -v ON_ERROR_STOP=1 -h "$folder" -U assay -d "$3" -f "$4" ;;
*) sed -n '2,10p' "$0" >&2; exit 2 ;;
esac
