"$ASSAY" help
for command in graph ops lenses doctor completion help version; do
    echo "---- $command"
    "$ASSAY" help $command
done
"$ASSAY" graph --help | head -n 1
"$ASSAY" -h > a && "$ASSAY" help > b && cmp a b
