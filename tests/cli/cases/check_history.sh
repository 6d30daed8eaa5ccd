# check --baseline history:...: the newest record that fits is the baseline.
run() { code=0; "$@" > out || code=$?; sed -n 's/.*baseline \(history:.*)\) of .*/\1/p' out; echo "exit $code"; }
"$ASSAY" graph lenet --save --tag main --db h.db -q 2> /dev/null
"$ASSAY" graph lenet --set num_classes=9 --save --tag main --db h.db -q 2> /dev/null
"$ASSAY" graph lenet --set num_classes=20 --save --tag branch --db h.db -q 2> /dev/null
"$ASSAY" graph alexnet --save --tag main --db h.db -q 2> /dev/null
run "$ASSAY" check lenet --metrics params --db h.db --baseline history:tag=main
run "$ASSAY" check lenet --metrics params --db h.db --baseline history:tag=branch
run "$ASSAY" check lenet --metrics params --db h.db --baseline history:id=1
echo "== a saved result has a model too"
"$ASSAY" graph lenet -q -o now.json
run "$ASSAY" check now.json --metrics params --db h.db --baseline history:tag=main
run "$ASSAY" check now.json --metrics params --db h.db --baseline history:model=alexnet,tag=main
echo "== what is refused"
run "$ASSAY" check lenet --db h.db --baseline history:tag=none
run "$ASSAY" check lenet --db h.db --baseline history:colour=red
run "$ASSAY" check lenet --db h.db --baseline history:id=one
run "$ASSAY" check lenet --db nowhere.db --baseline history:tag=main
run "$ASSAY" check lenet --db h.db --baseline now.json
