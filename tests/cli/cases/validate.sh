"$ASSAY" validate --models resnet18,resnet50,mobilenet_v2,vit_b_16
"$ASSAY" validate lenet --lens all
"$ASSAY" validate resnet18 --lens calflops --json
"$ASSAY" validate -f csv -o counts.csv -q && cat counts.csv
"$ASSAY" validate resnt18 || echo "exit $?"
"$ASSAY" validate resnet18 --lens fvcor || echo "exit $?"
"$ASSAY" graph resnet18 --lens all || echo "exit $?"
# Without Python there is a note and no failure.
PATH=/nowhere "$ASSAY" validate lenet --live
