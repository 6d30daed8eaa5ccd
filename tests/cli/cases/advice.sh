"$ASSAY" resnet50 --advice -v --training | sed -n '/^Recommendations/,/^$/p'
"$ASSAY" map resnet50 --hardware t4 --top 0 -v | sed -n '/^Recommendations/,/^$/p'
"$ASSAY" resnet50 | grep -c Recommendations || true
"$ASSAY" resnet50 --advice --no-advice | grep -c Recommendations || true
"$ASSAY" resnet50 --json --advice | sed -n 's/.*"id": "\(.*\)",/\1/p'
"$ASSAY" resnet50 -f md | grep -c -i recommend
"$ASSAY" llama-3.1-70b --advice --top 0 | sed -n '/^Recommendations/,/^$/p'
echo "== map: advice is about the model at the size and width that it is shown at"
"$ASSAY" map resnet50 --hardware a100-80 --batch-sizes 32 --json 2> /dev/null | grep -o 'bytes moved 9.74 GiB → [^,]*\|FLOPs ÷ 1.36.*"'
"$ASSAY" map squeezenet1_1 --hardware t4 --precision fp16 --json 2> /dev/null | grep -o '"id": "precision-[^"]*"\|FLOPs ÷ 4.45.*"\|[^ ]* → [^ ]* launches[^"]*'
echo "== the device that is named"
for device in t4 l4 a100-80; do
    "$ASSAY" llama-3.1-8b --advice --top 0 --hardware $device --json | grep -c '"id": "shard' || true
done
"$ASSAY" llama-3.1-70b --advice --top 0 --hardware a100-80 --json | grep -o 'a100-80' | sort -u
