# Settings of a training that say nothing of the network are named; a path that ends in a built-in name has a hint.
cat > train.json <<'END'
{"model": {"net_type": "lenet", "num_classes": 7}, "data": {"batch_size": 4}, "train": {"mixed_precision": true, "epochs": 3}}
END
"$ASSAY" graph train.json --json | grep -A1 '"code": "unused-setting"' | grep -oE '(data|train)\.[a-z_]+' || true
"$ASSAY" graph lenet --config train.json --json | grep -c '"unused-setting"'
"$ASSAY" graph train.json --strict -q && echo "exit 0"
"$ASSAY" graph models/bert-base-uncased 2>&1 || echo "exit $?"
"$ASSAY" graph models/nothing 2>&1 || echo "exit $?"
