"$ASSAY" map resnet18 --hardware rtx3090 --precision fp32,fp16 --batch-sizes 1,8,256 --top 3 --no-advice
"$ASSAY" map resnet50 --hardware all --goal throughput:2000 --no-advice | tail -n 24
"$ASSAY" map resnet18 --hardware rtx2060 --precision fp32 --batch-sizes 64,4096,65536 -f csv | cut -d , -f 1-3,6-9 
"$ASSAY" map resnet18 --hardware t4 --json | grep -c '"name": "t4", "precision"'
"$ASSAY" graph resnet18 --hardware pi5 --no-advice | grep ridge
for bad in rtx3099 t4,rtx3099 none.json; do
    "$ASSAY" map resnet18 --hardware $bad || echo "exit $?"
done
"$ASSAY" map resnet18 || echo "exit $?"
"$ASSAY" map resnet18 --hardware t4 --precision bf16 || echo "exit $?"
"$ASSAY" map resnet18 --hardware t4 --goal speed || echo "exit $?"
"$ASSAY" graph resnet18 --hardware tpu-v4 || echo "exit $?"
echo "---- several models on a class of devices"
"$ASSAY" map resnet18 mobilenet_v2 --hardware jetson | sed -n "1,/^Totals/p"
"$ASSAY" map resnet18 mobilenet_v2 --hardware t4,edge -f csv | cut -d , -f 2-4
"$ASSAY" map resnet18 mobilenet_v2 --hardware t4 --goal latency || echo "exit $?"
echo "---- two devices: a line each, not every precision and batch"
"$ASSAY" map resnet18 --hardware t4,v100 --no-advice --top 0 | sed -n "/^Devices/,/^$/p" | grep -c "^  t4 \|^  v100 "
echo "---- latency and samples/s of one batch, the most beside it"
"$ASSAY" map resnet18 --hardware a100-80,rtx4090 --no-advice | sed -n '/^Devices/,/^$/p'
echo "---- cost"
"$ASSAY" map resnet18 --hardware l4,t4,gtx1080 --precision fp16 --batch-sizes 1,8 --goal cost --price l4=1 --price t4=0.5,1080=0.2 --no-advice |
    sed -n '/^Pareto/,/prices:/p'
"$ASSAY" map resnet18 --hardware l4 --goal cost --json --no-advice | grep -cE '"(price_per_hour|price_basis|cost_per_million)"'
"$ASSAY" map resnet18 --hardware l4 --price t4=1 || echo "exit $?"
"$ASSAY" map resnet18 --hardware l4 --price t4=dear || echo "exit $?"
"$ASSAY" map resnet18 lenet --hardware l4 --price 1 || echo "exit $?"
echo "---- a large batch has separators"
"$ASSAY" map resnet18 --hardware a100-80,rtx4090 --columns 160 | sed -n "/Max batch/,/rtx4090/p" | grep -o -E " [0-9,]+  safe"
