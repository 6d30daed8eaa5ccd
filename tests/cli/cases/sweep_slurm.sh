# The six commands of docs/sweeps.md, from a laptop to a fleet: a private PostgreSQL and a private Slurm of two nodes. Then
# a sweep that is cancelled and submitted again.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
postgres=$CASES/../../support/postgres.sh slurm=$CASES/../../support/slurm.sh
server=$(mktemp -d) cluster=$(mktemp -d)
trap 'sh "$slurm" end "$cluster"; sh "$postgres" end "$server"' EXIT
for start in "$postgres start $server" "$slurm start $cluster"; do
    code=0
    sh $start || code=$?
    [ $code = 0 ] || exit $code
done
export SLURM_CONF="$cluster/slurm.conf"
fails() { code=0; "$@" > said 2>&1 || code=$?; echo "exit $code"; }
id_of() { sed -n 's/^  "id": "\(.*\)",/\1/p' "$1"; }

echo "---- six commands"
db=$(sh "$postgres" database "$server" bench)
sed -n '/^```fleet/,/^```$/p' "$CASES/../../../docs/sweeps.md" | sed '/^```/d' > six
wc -l < six
sed -e "s#^assay#\"\$ASSAY\"#" -e "s#postgresql://bench@db.example/bench#'$db'#" \
    -e 's/--num-runs 20/--num-runs 3 --warmup-runs 1/' six > commands
sed -n 1,5p commands > first
sh -e first > out 2> err || { cat out err; exit 1; }
grep '^job' out
fails sh -e -c "$(sed -n 6p commands)" > early
sh "$slurm" wait "$cluster" "$(id_of sweep.json)"
sh -e -c "$(sed -n 6p commands)" | sed -n '2,3p' | sed 's/[,.].*//'
head -c 15 report.html
echo
"$ASSAY" history --db "$db" --json > list.json
grep -c '"id"' list.json
grep -o '"task": [0-9]*' list.json | sort -u | wc -l
grep -o '"machine": "n[12]@' list.json | sort -u

echo "---- cancelled and submitted again"
export ASSAY_DB="$PWD/h.db"
scontrol update nodename=n1,n2 state=drain reason=test
"$ASSAY" sweep --models lenet --repeat 4 --num-runs 2 --warmup-runs 1 --node-class small -o two.json -q
"$ASSAY" sweep two.json --on slurm | tail -n 1 | sed 's/job [0-9]*/job N/'
"$ASSAY" sweep resubmit two.json
"$ASSAY" sweep run two.json 1 -q
"$ASSAY" sweep status two.json -f csv | cut -d, -f1,6 | sed 's/noisy/done/'
fails "$ASSAY" sweep report two.json
"$ASSAY" sweep cancel two.json
sh "$slurm" wait "$cluster" "$(id_of two.json)"
"$ASSAY" sweep missing two.json
fails "$ASSAY" sweep report two.json
"$ASSAY" sweep resubmit two.json | sed 's/job [0-9]*/job N/'
squeue -h -r -o '%K %f %l' | sort
"$ASSAY" sweep cancel two.json
echo "---- refused"
"$ASSAY" sweep --models lenet --node-class none -o none.json -q
fails "$ASSAY" sweep none.json --on slurm
PATH=/nowhere fails "$ASSAY" sweep status two.json
