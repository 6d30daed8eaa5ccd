cd "$MODELS" && LC_ALL=C COLUMNS=20 "$ASSAY" resnet18.onnx --top 2 > "$OLDPWD/out"
cd "$OLDPWD" && awk 'length($0) > 60 { print "too long: " $0 } END { print (NR > 20 ? "whole" : "cut") }' out
