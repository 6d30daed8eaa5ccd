"$ASSAY" resnet50 -v --training | sed -n '/^Recommendations/,/^$/p'
"$ASSAY" map resnet50 --hardware t4 --top 0 -v | sed -n '/^Recommendations/,/^$/p'
"$ASSAY" resnet50 --no-advice | grep -c Recommendations || true
"$ASSAY" resnet50 --json | sed -n 's/.*"id": "\(.*\)",/\1/p'
"$ASSAY" llama-3.1-70b --top 0 | sed -n '/^Recommendations/,/^$/p'
