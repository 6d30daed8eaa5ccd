# check: a model or a saved result before its judges, static metrics, formats, what cannot be judged.
run() { code=0; "$@" || code=$?; echo "exit $code"; }
run "$ASSAY" check lenet --threshold params:100k 'flops<=1M' size:1MB
run "$ASSAY" check lenet --threshold params:10k
echo "== a baseline of counts"
"$ASSAY" check lenet --save-baseline base.json -q
run "$ASSAY" check lenet --baseline base.json
run "$ASSAY" check lenet --set num_classes=20 --baseline base.json --metrics macs,params
run "$ASSAY" check lenet --set num_classes=5 --baseline base.json --metrics macs,params
echo "== a result instead of a model"
"$ASSAY" lenet --set num_classes=20 -q -o now.json
run "$ASSAY" check now.json --baseline base.json --metrics params -f csv
run "$ASSAY" check now.json --baseline base.json --metrics params -f github
run "$ASSAY" check now.json --baseline base.json --metrics params --json
run "$ASSAY" check now.json --baseline base.json -q -o out/check.md -o out/check.xml
head -n 1 out/check.md
head -n 2 out/check.xml
echo "== what is refused"
run "$ASSAY" check lenet
run "$ASSAY" check lenet --baseline nowhere.json
echo '{"schema": "assay.profile/9"}' > newer.json
run "$ASSAY" check lenet --baseline newer.json
echo '{"schema": "assay.profile/1", "total_macs": -3}' > broken.json
run "$ASSAY" check lenet --baseline broken.json
echo '{"model": {"net_type": "x"}}' > other.json
run "$ASSAY" check lenet --baseline other.json
echo '{"schema": "assay.comparison/1"}' > comparison.json
run "$ASSAY" check lenet --baseline comparison.json
run "$ASSAY" check comparison.json --threshold params:1
run "$ASSAY" check lenet --baseline base.json --metrics p50
run "$ASSAY" check lenet --lens fvcore --baseline base.json
run "$ASSAY" check lenet --threshold params:1 -f yaml
echo "== tolerances of single metrics"
run "$ASSAY" check lenet --set num_classes=20 --baseline base.json --metrics params,macs --metric-tolerance params:2%,macs:0.5
run "$ASSAY" check lenet --set num_classes=20 --baseline base.json --metrics params --metric-tolerance params:1
run "$ASSAY" check lenet --baseline base.json --metrics params --metric-tolerance macs:1
run "$ASSAY" check lenet --baseline base.json --metric-tolerance params:much
echo "== what was saved is said"
"$ASSAY" check lenet --save-baseline said.json 2>&1 > /dev/null
