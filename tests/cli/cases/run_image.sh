# A photograph as input: prepared and timed apart, and files that are no pictures.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
base64 -d > a.png <<END
iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEklEQVR42mP4zwAE/0Ho////AB/u
BfuXrhxRAAAAAElFTkSuQmCC
END
"$ASSAY" bench lenet --input a.png --num-runs 2 --warmup-runs 1 -q > err 2>&1 || { [ $? = 4 ] && cat err && exit 77; }
"$ASSAY" bench lenet --input a.png --num-runs 2 --warmup-runs 1 -o r.json -q
grep -c '"preprocess_ms": [0-9.]*[1-9].*"postprocess_ms": [0-9.]*[1-9]' r.json
base64 -d > a.jpg <<END
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0a
HBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/2wBDAQkJCQwLDBgNDRgyIRwhMjIyMjIy
MjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjL/wAARCAAIAAgDASIA
AhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAb/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEB
AQAAAAAAAAAAAAAAAAAABgf/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCLAGVx
f//Z
END
"$ASSAY" bench lenet --input a.jpg --num-runs 2 --warmup-runs 1 -o j.json -q
grep -c '"preprocess_ms": [0-9.]*[1-9].*"postprocess_ms": [0-9.]*[1-9]' j.json
head -c 60 a.png > cut.png
echo text > text.jpg
for f in cut.png text.jpg absent.jpeg; do "$ASSAY" bench lenet --input $f -q 2>&1 || echo "exit $?"; done
"$ASSAY" bench mlp --input a.png -q 2>&1 || echo "exit $?"
echo "== a JPEG that is cut short is no picture"
head -c 260 a.jpg > cut.jpg
"$ASSAY" bench lenet --input cut.jpg -q 2>&1 || echo "exit $?"
