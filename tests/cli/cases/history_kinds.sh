# Every command whose result can be kept keeps it the same way; what is refused is refused before any work.
export XDG_DATA_HOME=$PWD/data SOURCE_DATE_EPOCH=1790000000
"$ASSAY" pipeline sd15 --steps 3 --save --tag images -q
"$ASSAY" pipeline gpt2 --prompt-tokens 8 --generate 4 --save -q
"$ASSAY" map lenet --hardware t4 --save -q
"$ASSAY" fuse lenet --save -q
"$ASSAY" history
"$ASSAY" history --json | grep -o '"kind": "[a-z]*"' | sort | uniq -c | sed 's/^ *//'
"$ASSAY" history show 1 | head -n 12
"$ASSAY" history show 1 --json | cut -c1-60
"$ASSAY" history show 3 --json | grep -c '"devices"'
"$ASSAY" history show 1 -f csv | head -n 3
"$ASSAY" history show 2 -f trace || echo "exit $?"
"$ASSAY" trend sd15 --metric macs | head -n 3
"$ASSAY" history export -o all.jsonl
"$ASSAY" history import all.jsonl --db copy.db
"$ASSAY" history --db copy.db --tag images
echo "---- refused"
tags=$(for i in $(seq 33); do printf -- '--tag t%s ' "$i"; done)
"$ASSAY" lenet --save $tags || echo "exit $?"
"$ASSAY" lenet --tag x || echo "exit $?"
"$ASSAY" lenet --db x.db || echo "exit $?"
"$ASSAY" compare lenet lenet --save || echo "exit $?"
"$ASSAY" history --tag a --tag b || echo "exit $?"
"$ASSAY" trend lenet --tag a --tag b || echo "exit $?"
"$ASSAY" pipeline sd15 --save --db data || echo "exit $?"
"$ASSAY" history tag 1 $(seq 20)
"$ASSAY" history tag 1 $(seq 21 32) || echo "exit $?"
"$ASSAY" history --tag 20
"$ASSAY" compare lenet lenet lenet --precision fp32,int8 || echo "exit $?"
