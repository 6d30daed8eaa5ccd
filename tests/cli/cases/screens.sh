# Nothing is cut, too wide or named alike at 60, 80, 120 and 200 columns.
[ -x /usr/bin/python3 ] || { echo "no python3"; exit 77; }
engine=--engine
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || engine=
/usr/bin/python3 "$CASES/../check_screens.py" "$ASSAY" $engine
"$ASSAY" compare resnet18 resnet34 resnet50 resnet101 vgg11 vgg16 mobilenet_v2 efficientnet_b0 vit_b_16 swin_t \
    densenet121 convnext_tiny
