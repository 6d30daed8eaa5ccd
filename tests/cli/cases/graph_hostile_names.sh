cd "$CASES/../models"
for format in console csv json; do
    "$ASSAY" hostile.onnx --format $format -v | LC_ALL=C tr -d '\r\n -~\200-\377' | od -c
done
