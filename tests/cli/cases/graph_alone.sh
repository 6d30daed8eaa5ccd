# `assay graph` alone analyses resnet18 and says so; without a command a model is needed.
"$ASSAY" graph --json 2> said > alone.json
"$ASSAY" graph resnet18 --json 2> nothing > named.json
grep -v '"command"' alone.json > a
grep -v '"command"' named.json | cmp - a && echo same
grep -c resnet18 said
cat nothing
"$ASSAY" graph -q --json -o q.json 2> quiet
cat quiet
"$ASSAY" graph --model lenet --json 2>&1 | grep '"model": "lenet"' | head -1
"$ASSAY" --json 2> /dev/null || echo "exit $?"
"$ASSAY" bench 2> /dev/null || echo "exit $?"
