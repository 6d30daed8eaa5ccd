"$ASSAY" resnet50 --advice -v --training | sed -n '/^Recommendations/,/^$/p'
"$ASSAY" map resnet50 --hardware t4 --top 0 -v | sed -n '/^Recommendations/,/^$/p'
"$ASSAY" resnet50 | grep -c Recommendations || true
"$ASSAY" resnet50 --advice --no-advice | grep -c Recommendations || true
"$ASSAY" resnet50 --json --advice | sed -n 's/.*"id": "\(.*\)",/\1/p'
"$ASSAY" resnet50 -f md | grep -c -i recommend
"$ASSAY" llama-3.1-70b --advice --top 0 | sed -n '/^Recommendations/,/^$/p'
