# The manifest of a sweep against the Job schema of kubernetes-models; three that the schema must refuse.
command -v node > /dev/null || { echo "no node"; exit 77; }
export ASSAY_DB="$PWD/h.db"
make_manifest() {
    "$ASSAY" sweep --models lenet --batch-sizes 1,2 --device cpu,cuda --node-class big --threads 2 --repeat 2 \
        --num-runs 2 --warmup-runs 1 --on kubernetes --image registry/assay:1 --secret bench --throttle 2 \
        --manifest "$1" -q
}
mkdir bin
printf '#!/bin/sh\nexit 1\n' > bin/kubectl
chmod +x bin/kubectl
PATH="$PWD/bin:$PATH" make_manifest job.json
sed 's/"completionMode": "Indexed"/"completionMode": "Numbered"/' job.json > mode.json
sed 's/"completions": \([0-9]*\)/"completions": "\1"/' job.json > number.json
sed 's/"containers"/"container"/' job.json > pod.json
node "$CASES/../check_job_schema.mjs" job.json mode.json number.json pod.json
