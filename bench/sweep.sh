#!/bin/sh
# A sweep of 60 tasks on a private Slurm of two nodes with its history in a private PostgreSQL, while things fail.
#   bench/sweep.sh PROGRAM [TASKS]      60; 0: only the slow node
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
queued() { squeue -h -r --name="$(sed -n 's/^  "id": "\(.*\)",/\1/p' "$1")" | wc -l; }
done_now() { "$assay" sweep status "$1" --json | sed -n 's/^  "done": \([0-9]*\),/\1/p'; }
# Until N tasks have a record. Exit 1 when the queue is empty before (tasks that fail leave it without a record), and
# after 15 minutes.
until_done() { # PLAN N
    for _ in $(seq 900); do
        left=$(queued "$1") n=$(done_now "$1" 2> said || :)
        [ "${n:-0}" -lt "$2" ] || return 0
        [ "$left" != 0 ] || break
        sleep 1
    done
    echo "only ${n:-0} of $2 tasks have a record, and $left are in the queue: $(cat said)" >&2
    tail -n 5 ./*.log >&2
    exit 1
}
survive() {
    began=$(date +%s)
    "$assay" sweep --models lenet,mlp --batch-sizes 1,8 --threads 1 --repeat $((tasks / 4)) --num-runs 30 --on slurm -q
    id=$(sed -n 's/^  "id": "\(.*\)",/\1/p' sweep.json)
    until_done sweep.json $((tasks / 4))
    sh "$support/slurm.sh" kill "$cluster" n1
    echo "slurmd of n1 killed after $(done_now sweep.json) tasks"
    until_done sweep.json $((tasks / 3))
    sh "$support/postgres.sh" stop "$server" immediate
    sh "$support/postgres.sh" again "$server"
    echo "database restarted after $(done_now sweep.json) tasks"
    sh "$support/slurm.sh" node "$cluster" n1
    for _ in $(seq 900); do
        [ "$(queued sweep.json)" != 0 ] || break
        sleep 1
    done
    missing=$("$assay" sweep missing)
    [ -z "$missing" ] || { echo "missing, resubmitted: $missing"; "$assay" sweep resubmit; until_done sweep.json "$tasks"; }
    records=$(sh "$support/postgres.sh" sql "$server" bench "SELECT count(*), count(DISTINCT task) FROM assay.runs WHERE sweep = '$id'")
    echo "$tasks tasks in $(($(date +%s) - began)) s; records and distinct tasks: $records"
    echo "requeued: $(grep -c -i 'requeue' "$cluster/slurmctld.log" || :) lines of slurmctld"
    [ "$records" = "$tasks|$tasks" ]
    "$assay" sweep report -o whole.json -q
}
# Runs that are longer than the scheduler's slices show the busy loops. The slow node takes a third of the tasks: it
# needs five for a verdict that is not chance.
find_slow() {
    "$assay" sweep --models resnet18 --threads 1 --repeat 24 --num-runs 10 --warmup-runs 2 --on slurm -q -o slow.json
    until_done slow.json 24
    "$assay" sweep report slow.json --json > report.json
    "$assay" sweep report slow.json | sed -n '/^Machines/,$p'
    grep -o '"machine": "n1@[^}]*"verdict": "slow"' report.json
}
[ "$tasks" = 0 ] || survive
find_slow
