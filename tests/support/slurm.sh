#!/bin/sh
# A private Slurm cluster of two nodes on this machine, for tests and benchmarks: slurmctld, two slurmd and munged on
# loopback, in a folder of their own, without cgroups and accounting.
#   slurm.sh start FOLDER        makes and starts it; exit 77 with a line when Slurm or munge is not installed
#   slurm.sh node FOLDER NAME    starts the slurmd of n1 or n2 again
#   slurm.sh kill FOLDER NAME    kills the slurmd of n1 or n2 and its steps, as if the node failed
#   slurm.sh wait FOLDER NAME    waits until the sweep (a job name) has left the queue
#   slurm.sh end FOLDER          stops it and removes the folder
# PIN_n1 and PIN_n2 are the core that a node is pinned to. FEATURES_n1 and FEATURES_n2 are its features. Programs of Slurm find
# the cluster by SLURM_CONF=FOLDER/slurm.conf.
set -eu
what=$1 folder=$2
user=$(id -un)
export SLURM_CONF="$folder/slurm.conf"
PATH=$PATH:/usr/sbin:/sbin

free_port() {
    /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

write_conf() {
    cat > "$SLURM_CONF" << END
ClusterName=assay
SlurmctldHost=localhost
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.%n.log
SlurmctldPort=$(free_port)
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdTimeout=10
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
MinJobAge=2
KillWait=1
CompleteWait=0
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=$(free_port) CPUs=1 Feature=${FEATURES_n1:-small} State=UNKNOWN
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=$(free_port) CPUs=1 Feature=${FEATURES_n2:-small} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
}

# As daemons: their files are closed, so that nobody waits for them.
start_munge() {
    head -c 1024 /dev/urandom > "$folder/munge.key"
    chmod 600 "$folder/munge.key"
    munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
        --log-file="$folder/munged.log" --seed-file="$folder/munge.seed" < /dev/null > "$folder/munged.out" 2>&1
}

start_node() { # NAME
    eval "core=\${PIN_$1:-}"
    ${core:+taskset -c "$core"} slurmd -N "$1" < /dev/null > "$folder/slurmd.$1.out" 2>&1
}

# A condition that a command prints something, looked at ten times a second for a minute.
wait_for() { # TEXT COMMAND...
    text=$1
    shift
    for _ in $(seq 600); do
        ! "$@" 2> /dev/null | grep -q -x "$text" || return 0
        sleep 0.1
    done
    echo "Slurm: no '$text' from: $*" >&2
    tail -n 5 "$folder"/*.log >&2
    return 1
}

stop() { # PID_FILE...
    for f in "$@"; do
        [ ! -s "$f" ] || kill -KILL "$(cat "$f")" 2> /dev/null || :
    done
}

# slurmd's steps are processes of their own: slurmstepd of the node.
kill_steps() { # NAME
    for p in $(pgrep -x slurmstepd || :); do
        cat "/proc/$p/environ" 2> /dev/null | tr '\0' '\n' | grep -q -x "SLURM_CONF=$SLURM_CONF" || continue
        readlink "/proc/$p/cwd" "/proc/$p/fd"/* 2> /dev/null | grep -q "$folder/.*$1" || continue
        for child in $(pgrep -P "$p" || :); do kill -KILL "$child" 2> /dev/null || :; done
        kill -KILL "$p" 2> /dev/null || :
    done
}

case $what in
start)
    command -v slurmctld > /dev/null && command -v slurmd > /dev/null ||
        { echo "skipped: Slurm is not installed (Debian: slurm-wlm)"; exit 77; }
    command -v munged > /dev/null || { echo "skipped: munge is not installed (Debian: munge)"; exit 77; }
    [ -x /usr/bin/python3 ] || { echo "skipped: no python3"; exit 77; }
    mkdir -p "$folder/state" "$folder/spool/n1" "$folder/spool/n2"
    chmod 755 "$folder"
    write_conf
    start_munge
    slurmctld -c < /dev/null > "$folder/slurmctld.out" 2>&1
    start_node n1
    start_node n2
    wait_for 2 sh -c 'sinfo -h -N -o %T | grep -c -x idle'
    ;;
node) start_node "$3" ;;
kill)
    stop "$folder/slurmd.$3.pid"
    kill_steps "$3"
    ;;
wait) wait_for 0 sh -c "squeue -h -r --name=$3 | wc -l" ;;
end)
    for n in n1 n2; do
        stop "$folder/slurmd.$n.pid"
        kill_steps "$n"
    done
    stop "$folder/slurmctld.pid" "$folder/munged.pid"
    rm -rf "$folder"
    ;;
*) sed -n '2,12p' "$0" >&2; exit 2 ;;
esac
