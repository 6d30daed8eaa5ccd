# The workflow of docs/ci.md: its own commands, run in the order they stand there, on a model made on the spot.
python=/usr/bin/python3
[ -x $python ] || { echo "no python3"; exit 77; }
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
mkdir bin base
ln -s "$ASSAY" bin/assay
PATH=$PWD/bin:$PATH
"$ASSAY" export lenet -o model.onnx > /dev/null
cp model.onnx base/model.onnx
cat > steps.py <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
workflow = re.search(r"```yaml\n(.*?)```", text, re.S).group(1)
for step in re.findall(r"- name: ([^\n]*)\n((?:        [^\n]*\n)*)", workflow):
    run = re.search(r"        run: (?:\|\n((?:          [^\n]*\n)+)|([^\n]*)\n)", step[1])
    if run and "assay" in (run.group(1) or run.group(2)):
        print("#", step[0])
        print(re.sub(r"^          ", "", run.group(1), flags=re.M) if run.group(1) else run.group(2))
END
$python steps.py "$CASES/../../../docs/ci.md" > steps.sh
grep -c '^# [A-Z]' steps.sh
export GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=$PWD/summary.md
code=0
sh -e steps.sh > out.txt 2> err.txt || code=$?
# The machine may be too busy to tell (7); it is never a failure of the commands themselves.
case $code in 0 | 6 | 7) echo "ran" ;; *) echo "exit $code"; cat err.txt ;; esac
head -n 1 summary.md
$python "$CASES/../check_junit.py" assay.xml | cut -d: -f1
# Counts alone are certain: a wider model is an error on the line of its metric.
"$ASSAY" check lenet --save-baseline counts.json -q 2> /dev/null
code=0
"$ASSAY" check lenet --set num_classes=20 --baseline counts.json --metrics params -q 2> annotations || code=$?
echo "exit $code"
cat annotations
tail -n 30 summary.md
