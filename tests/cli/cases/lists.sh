env -u COLUMNS "$ASSAY" ops conv | cut -c 1-56
for list in ops devices models doctor; do "$ASSAY" $list | grep -v '^ *[^ ]*/[^ ]*$' | awk -v list=$list 'length > 80 { wide++ } END { print list, (wide ? wide " lines are too wide" : "fits") }'; done
"$ASSAY" ops FusedConv
"$ASSAY" ops 'Reduce*' --json | head -n 2 | cut -c 1-60
"$ASSAY" lenses --json | head -n 2 | cut -c 1-60
"$ASSAY" doctor | grep -v "^ \| engine \| images " | cut -c 1-15
"$ASSAY" doctor --json | grep -c "\"engine\".*\"optional\": true"
ASSAY_ORT_LIB=/nowhere/lib.so "$ASSAY" doctor > out && echo "well without an engine"
tr -s "\\n " "  " < out | grep -o "no engine.*ASSAY_ORT_LIB"
"$ASSAY" doctor --limits
