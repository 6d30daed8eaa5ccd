# The cases of the history once more, with every file a database of a private PostgreSQL server: the same output.
script=$CASES/../../support/postgres.sh
server=$(mktemp -d)
trap 'sh "$script" end "$server"' EXIT
code=0
sh "$script" start "$server" || code=$?
[ $code = 0 ] || { trap - EXIT; rm -rf "$server"; exit $code; }

# The program with databases in the place of files: "h.db" is made by the first command that would make the file.
cat > with_server << 'END'
#!/bin/sh
url() { # NAME: of the database, which is made if need be
    name=${case_}_$(echo "$1" | tr -c 'a-z0-9\n' _)
    if [ "$makes" = 1 ] && [ ! -e "$server/made_$name" ]; then
        sh "$script" database "$server" "$name" > /dev/null
        "$PROGRAM" history init -q --db "postgresql://assay@/$name?host=$server"
        touch "$server/made_$name"
    fi
    echo "postgresql://assay@/$name?host=$server"
}
makes=0 named=0 stores=0 n=$#
for word; do
    case $word in --save | import) makes=1 ;; esac
    case $word in --save | history | trend) stores=1 ;; esac
done
while [ $n -gt 0 ]; do
    word=$1
    shift
    n=$((n - 1))
    set -- "$@" "$word"
    if [ "$word" = --db ]; then
        named=1 file=$1
        shift
        n=$((n - 1))
        case $file in */assay/history.db) file=default ;; esac # in $XDG_DATA_HOME
        [ -e "$file" ] || file=$(url "$file")
        set -- "$@" "$file"
    fi
done
if [ $named = 0 ] && [ $stores = 1 ]; then
    makes=1
    set -- "$@" --db "$(url default)"
fi
exec "$PROGRAM" "$@"
END
chmod +x with_server
export script server PROGRAM="$ASSAY"

for case_ in history check_history trend history_kinds; do
    export case_
    mkdir "$case_"
    [ $case_ != history_kinds ] || mkdir "$case_/data" # that a file would be in
    # What a command stores of its own line has the name of the database.
    (cd "$case_" && ASSAY=../with_server sh -e "$CASES/$case_.sh" 2> ../said) |
        sed -e "s# --db 'postgresql:[^']*'##" > out
    diff "$CASES/$case_.out" out > differs && echo "$case_: same" || { echo "$case_: differs"; cat differs said; }
done
