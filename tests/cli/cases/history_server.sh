# A history in PostgreSQL: the schema, roles, passwords, a server that goes away, and a missing library.
command -v python3 > /dev/null || { echo "python3 is missing"; exit 77; }
script=$CASES/../../support/postgres.sh
server=$(mktemp -d)
trap 'sh "$script" end "$server"' EXIT
code=0
sh "$script" start "$server" || code=$?
[ $code = 0 ] || { trap - EXIT; rm -rf "$server"; exit $code; }
hide() { sed -e "s#$server#SERVER#g"; }
fails() { code=0; "$@" 2>&1 || code=$?; echo "exit $code"; }
db=$(sh "$script" database "$server" team)

echo "---- schema"
fails "$ASSAY" history --db "$db" | hide
"$ASSAY" history init --db "$db"
"$ASSAY" history init --db "$db"
"$ASSAY" lenet -q --save --tag nightly --db "$db"
"$ASSAY" history --db "host=$server dbname=team user=assay" | sed -n 1p
ASSAY_DB=$db "$ASSAY" history | sed -n 1p
[ ! -e postgresql: ] || echo "a folder was made"

echo "---- roles, as docs/history.md grants them"
sed -n '/^```sql/,/^```$/p' "$CASES/../../../docs/history.md" | sed '/^```/d' > roles.sql
sh "$script" sql "$server" team "$(cat roles.sql)"
writer="host=$server dbname=team user=bench_writer" reader="host=$server dbname=team user=bench_reader"
"$ASSAY" alexnet --save --tag nightly --db "$writer" -q
fails "$ASSAY" history --db "$writer" | sed 's/^.*: //'
fails "$ASSAY" history delete 1 --db "$writer" | sed 's/^.*: //'
fails "$ASSAY" history tag 1 x --db "$writer" | sed 's/^.*: //'
fails "$ASSAY" history prune --keep 1d --db "$writer" | sed 's/^.*: //'
"$ASSAY" history --db "$reader" --json | grep -c '"id"'
"$ASSAY" trend alexnet --metric macs --db "$reader" | sed -n 1p
fails "$ASSAY" lenet --save --db "$reader" -q 2>&1 | sed -n -e 's/^.*: //' -e '$p'
cat assay-unsaved-*.jsonl | grep -c '"document"'
"$ASSAY" history import assay-unsaved-*.jsonl --db "$db" -q
"$ASSAY" history --db "$db" | sed -n 1p
rm assay-unsaved-*

echo "---- passwords"
secret="postgresql://assay:hunter2@/team?host=$server"
"$ASSAY" watch --save --db "$secret" -q -- sh -c 'tr "\0" " " < /proc/$PPID/cmdline > line' 2> said
grep -c 'postgresql://\*' line
fails "$ASSAY" history --db "postgresql://assay:hunter2@/missing?host=$server" >> said
fails "$ASSAY" history --db "postgresql://assay:hunter2@nowhere.invalid/team" >> said
fails "$ASSAY" history --db "postgresql://assay:hunter2%zz@/team" >> said
fails "$ASSAY" history --db "host=$server password=hunter2 dbname=team user=assay nonsense" >> said
"$ASSAY" history --db "$db" --json > list
"$ASSAY" history export --db "$db" > lines
! grep hunter2 said line list lines || echo "a password is shown"

echo "---- a server that goes away while something is measured"
ASSAY_DB_WAIT=0 fails "$ASSAY" watch --save --tag kept --db "$db" -q -- sh "$script" stop "$server" > said
tail -n 1 said
grep -c 'assay history import assay-unsaved-' said
fails "$ASSAY" history --db "$db" > said
tail -n 1 said
sh "$script" again "$server"
"$ASSAY" history import assay-unsaved-*.jsonl --db "$db" | sed 's/^.*: //'
"$ASSAY" history --tag kept --db "$db" | sed -n 1p

echo "---- there and back"
"$ASSAY" history copy "$db" laptop.db
"$ASSAY" history copy laptop.db "$db"
fails "$ASSAY" history copy laptop.db laptop.db
fails "$ASSAY" history prune --db laptop.db
"$ASSAY" history prune --keep 90d --keep-tagged --db laptop.db

echo "---- the dashboard"
if [ -x "$(dirname "$ASSAY")/assay-serve" ]; then
    "$ASSAY" serve --read-only --db "$secret" > address &
    while [ ! -s address ]; do kill -0 $! || break; done
    python3 -c 'import sys, urllib.request
for path in ("records?limit=1", "models", "trend?model=lenet&metric=macs"):
    print(urllib.request.urlopen(sys.argv[1] + "api/v1/" + path).status)' "$(cat address)"
    ! grep -a -q hunter2 "/proc/$!/cmdline" || echo "a password is shown"
    kill $!
    wait $! || :
else
    printf '200\n200\n200\n'
fi

echo "---- without libpq"
ASSAY_LIBPQ=/missing/libpq.so.5 fails "$ASSAY" history --db "$db" | grep -o 'Debian: libpq5\|exit.*'
