"$ASSAY" help
for command in graph ops lenses doctor completion help version; do
    echo "---- $command"
    "$ASSAY" help $command
done
"$ASSAY" graph --help | head -n 1
"$ASSAY" -h > a && "$ASSAY" help > b && cmp a b
# Notes on one command are in its help alone.
for command in graph scale load; do
    COLUMNS=200 "$ASSAY" help $command | grep -cE 'scale: also|load: its' || true
done
# No line of any command's help is wider than the screen.
"$ASSAY" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\{1,\}\)  .*/\1/p' | while read -r command; do
    "$ASSAY" help "$command" | awk -v of="$command" 'length($0) > 80 { print of ": " $0 }'
done
