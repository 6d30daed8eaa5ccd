for kind in h5 keras pb mlmodel caffemodel pdmodel; do
    echo x > m.$kind
    "$ASSAY" m.$kind || echo "exit $?"
done
