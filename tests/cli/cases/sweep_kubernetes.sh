# The manifest of a sweep: an Indexed Job per place; its command line run here; a kubectl that only says what it was asked.
python=/usr/bin/python3
[ -x $python ] || { echo "no python3"; exit 77; }
mkdir bin
cat > bin/kubectl << 'END'
#!/bin/sh
echo "kubectl $*" >> "$LOG"
case $1 in
config) [ -n "${CONTEXT:-}" ] ;;
get) cat "$PODS" ;;
esac
END
chmod +x bin/kubectl
export PATH="$PWD/bin:$PATH" LOG="$PWD/log" PODS="$PWD/pods.json" ASSAY_DB="$PWD/h.db"

echo "---- without a context"
"$ASSAY" sweep --models lenet --batch-sizes 1,2 --device cpu,cuda --node-class big --threads 2 --repeat 2 \
    --num-runs 2 --warmup-runs 1 --on kubernetes --image registry/assay:1 --secret bench --throttle 2 \
    --manifest job.yaml -q
cat log
$python "$CASES/../check_manifest.py" job.yaml
echo "---- with one"
CONTEXT=1 "$ASSAY" sweep resubmit --image registry/assay:1 --tasks 1-2 > /dev/null
sed 's#-f .*#-f FILE#' log
$python "$CASES/../check_manifest.py" sweep-kubernetes.json | head -n 2
id=$(sed -n 's/^  "id": "\(.*\)",/\1/p' sweep.json)
echo "---- status and cancel"
cat > pods.json << END
{"items": [
 {"metadata": {"annotations": {"batch.kubernetes.io/job-completion-index": "1", "assay/tasks": "0-3"}},
  "spec": {"nodeName": "node-a"}, "status": {"phase": "Running"}},
 {"metadata": {"annotations": {"batch.kubernetes.io/job-completion-index": "0", "assay/tasks": "4-7"}},
  "spec": {}, "status": {"phase": "Pending", "reason": "Unschedulable"}},
 {"metadata": {"annotations": {"batch.kubernetes.io/job-completion-index": "9", "assay/tasks": "0-99"}},
  "status": {"phase": "Pending"}}, {"metadata": {}}, 3]}
END
"$ASSAY" sweep status -f csv | cut -d, -f1,6- | sed -n '1,3p;6p'
"$ASSAY" sweep cancel
tail -n 1 log | sed "s/$id/ID/"

echo "---- refused"
fails() { code=0; "$@" > said 2>&1 || code=$?; echo "exit $code"; }
fails "$ASSAY" sweep resubmit
fails "$ASSAY" sweep resubmit --image i --tasks 8
fails "$ASSAY" sweep resubmit --on slurm --image i


echo "---- the command line of a pod"
env -u ASSAY_DB "$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && exit 0; }
cat > pod.py << 'END'
import json, os, subprocess, sys
items = json.load(open("job.yaml"))["items"]
box = items[1]["spec"]["template"]["spec"]["containers"][0]
os.makedirs("sweep", exist_ok=True)
for name, text in items[0]["data"].items():
    open("sweep/" + name, "w").write(text)
env = {e["name"]: e["value"] for e in box["env"] if "value" in e}
env.update(os.environ, JOB_COMPLETION_INDEX=sys.argv[1], ASSAY_NODE="node-a")
words = [os.environ["ASSAY"], *(w.replace("/sweep/", "sweep/") for w in box["command"][1:])]
print(subprocess.run(words, env=env).returncode)
END
$python pod.py 3
$python pod.py 3
"$ASSAY" sweep status -f csv | cut -d, -f1,6,7 | sed -n 5p | sed 's/noisy/done/; s/@.*//'
"$ASSAY" history --json | grep -c '"id"'
