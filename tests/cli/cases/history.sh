# Results kept, listed, tagged, moved and refused. The clock stands at 0; documents of other days are made here.
at() { # EPOCH COMMAND...
    epoch=$1
    shift
    SOURCE_DATE_EPOCH=$epoch "$@"
}
machine() { sed -e 's/"host": "[^"]*"/"host": "HOST"/' -e 's/"\(machine\|tool_version\)": "[^"]*"/"\1": "X"/g' -e 's/cpu,"[^"]*cores*"/cpu,HOST/' -e 's/,"[^"]*cores*",/,HOST,/'; }
export XDG_DATA_HOME=$PWD/data
"$ASSAY" history                                        # nothing there yet, and nothing is made
[ ! -e data ] || echo "a list made a file"
at 1790000000 "$ASSAY" lenet -q --save --tag first --tag 'two words'
at 1790100000 "$ASSAY" resnet18 -q --save
at 1790200000 "$ASSAY" lenet --batch 4 --save > screen 2> said
cat said
"$ASSAY" history
"$ASSAY" history --model lenet --json | machine
"$ASSAY" history list --tag first -f csv | machine
"$ASSAY" history --since 2026-09-22T00:00:00Z --limit 1
"$ASSAY" history --query RESNET
"$ASSAY" history show 1 --top 0 | head -n 12
"$ASSAY" history show 2 --json | grep '"total_macs"'
"$ASSAY" history show 3 -q -o again/3.json && grep -c '"schema": "assay.profile/1"' again/3.json
"$ASSAY" history tag 2 release 'größe'
"$ASSAY" history untag 1 'two words'
"$ASSAY" history export --model lenet -o lenets.jsonl
"$ASSAY" history import lenets.jsonl again/3.json --db copy.db
"$ASSAY" history import lenets.jsonl --db copy.db
"$ASSAY" history --db copy.db --ascii
"$ASSAY" history delete 1 2
ASSAY_DB=$PWD/data/assay/history.db "$ASSAY" history
echo "---- refused"
"$ASSAY" history shw || echo "exit $?"
"$ASSAY" history show || echo "exit $?"
"$ASSAY" history show one || echo "exit $?"
"$ASSAY" history show 99 --db data/assay/history.db || echo "exit $?"
"$ASSAY" history delete 3 x || echo "exit $?"
"$ASSAY" history tag 3 'a,b' || echo "exit $?"
"$ASSAY" history --since someday || echo "exit $?"
"$ASSAY" history --limit 0 || echo "exit $?"
"$ASSAY" history -f pdf || echo "exit $?"
"$ASSAY" history --db missing.db || echo "exit $?"
"$ASSAY" lenet -q --save --tag 'a,b' || echo "exit $?"
echo "not a database, but long enough to be looked at as one, is it not" > text.db
"$ASSAY" history --db text.db || echo "exit $?"
"$ASSAY" lenet -q --save --db text.db || echo "exit $?"
head -c 300 again/3.json > broken.json
cp "$MODELS/resnet18.onnx" .
"$ASSAY" history import broken.json || echo "exit $?"
"$ASSAY" history import resnet18.onnx || echo "exit $?"
"$ASSAY" history
