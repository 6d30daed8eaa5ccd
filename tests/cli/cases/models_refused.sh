for kind in pb mlmodel caffemodel pdmodel; do
    echo x > m.$kind
    "$ASSAY" m.$kind || echo "exit $?"
done
