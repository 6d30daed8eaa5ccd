# Every limit is a row; a refusal names it and what raises it; raising it has an effect.
"$ASSAY" doctor --limits | sed -n '1p;/^json /p;/fixed/s/ .*//p'
{ printf '{"model": {"net_type": "lenet"}, "note": "'; head -c 17000000 /dev/zero | tr '\0' x; echo '"}'; } > big.json
"$ASSAY" graph lenet --config big.json -q 2> said || echo "exit $?"
grep -o 'limit `json`.*' said
"$ASSAY" graph lenet --config big.json -q --raise-limit json=32MiB && echo raised
ASSAY_LIMITS=json=32MiB "$ASSAY" graph lenet --config big.json -q && echo raised
"$ASSAY" graph resnet50 -q --raise-limit model-memory=100KB 2> said || echo "exit $?"
grep -o -e '--raise-limit [A-Z=a-z0-9]*' said
for wrong in nosuch=1 json json=0 json=-1 json=2000TB json-depth=100; do
    "$ASSAY" graph lenet -q --raise-limit $wrong 2> /dev/null || echo "$wrong: exit $?"
done
ASSAY_LIMITS=nosuch=1 "$ASSAY" graph lenet -q 2> /dev/null || echo "exit $?"
"$ASSAY" doctor --limits --raise-limit json=20MiB | grep '^json ' | tr -s ' '
