#!/bin/sh
# A sweep of 60 tasks on a private Slurm of two nodes with its history in a private PostgreSQL, while things fail.
#   bench/sweep.sh PROGRAM [TASKS]
# The slurmd of n1 and its step are killed in the middle (SlurmdTimeout 10 s; the task is requeued) and started again, the database is
# restarted once. In the end every task has one record. n1 is pinned to core 0 beside two busy loops, n2 to core 1: the
# report must name n1 as slow. Prints what it found; exit 1 if it is not so.
set -eu
assay=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") tasks=${2:-60}
support=$(cd "$(dirname "$0")/../tests/support" && pwd)
work=$(mktemp -d) server=$(mktemp -d) cluster=$(mktemp -d) loops=
export PIN_n1=0 PIN_n2=1 SLURM_CONF="$cluster/slurm.conf"
end() {
    for p in $loops; do kill "$p" 2> /dev/null || :; done
    sh "$support/slurm.sh" end "$cluster"
    sh "$support/postgres.sh" end "$server"
    rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM
sh "$support/postgres.sh" start "$server"
sh "$support/slurm.sh" start "$cluster"
cd "$work"
ASSAY_DB=$(sh "$support/postgres.sh" database "$server" bench)
export ASSAY_DB
"$assay" history init -q
for _ in 1 2; do
    taskset -c 0 sh -c 'while :; do :; done' &
    loops="$loops $!"
done
began=$(date +%s)
"$assay" sweep --models lenet,mlp --batch-sizes 1,8 --threads 1 --repeat $((tasks / 4)) --num-runs 30 --on slurm -q
id=$(sed -n 's/^  "id": "\(.*\)",/\1/p' sweep.json)
done_now() { "$assay" sweep status --json | sed -n 's/^  "done": \([0-9]*\),/\1/p'; }
until_done() { # N
    while n=$(done_now) && [ "${n:-0}" -lt "$1" ]; do sleep 1; done
}
until_done $((tasks / 4))
sh "$support/slurm.sh" kill "$cluster" n1
echo "slurmd of n1 killed after $(done_now) tasks"
until_done $((tasks / 3))
sh "$support/postgres.sh" stop "$server" immediate
sh "$support/postgres.sh" again "$server"
echo "database restarted after $(done_now) tasks"
sh "$support/slurm.sh" node "$cluster" n1
for _ in $(seq 900); do
    [ "$(squeue -h -r --name="$id" | wc -l)" != 0 ] || break
    sleep 1
done
missing=$("$assay" sweep missing)
[ -z "$missing" ] || { echo "missing, resubmitted: $missing"; "$assay" sweep resubmit; until_done "$tasks"; }
records=$(sh "$support/postgres.sh" sql "$server" bench "SELECT count(*), count(DISTINCT task) FROM assay.runs WHERE sweep = '$id'")
echo "$tasks tasks in $(($(date +%s) - began)) s; records and distinct tasks: $records"
echo "requeued: $(grep -c -i 'requeue' "$cluster/slurmctld.log" || :) lines of slurmctld"
[ "$records" = "$tasks|$tasks" ]
# Runs that are longer than the scheduler's slices show the busy loops.
"$assay" sweep --models resnet18 --threads 1 --repeat 10 --num-runs 10 --warmup-runs 2 --on slurm -q -o slow.json
for _ in $(seq 300); do
    [ "$("$assay" sweep missing slow.json)" ] || break
    sleep 1
done
"$assay" sweep report slow.json --json > report.json
"$assay" sweep report slow.json | sed -n '/^Machines/,$p'
grep -o '"machine": "n1@[^}]*"verdict": "slow"' report.json
