for kind in pt pth h5 keras pb mlmodel caffemodel pdmodel bin; do
    echo x > m.$kind
    "$ASSAY" m.$kind || echo "exit $?"
done
