# A process watched: its exit code is ours, its figures are in the file, Ctrl-C keeps what was seen.
"$ASSAY" watch -q -o a.json -- sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; echo its own output; exit 3' || echo "exit $?"
"$ASSAY" watch -- sh -c 'kill -9 $$' 2> err || echo "exit $?"
grep -o 'by signal 9' err
"$ASSAY" watch -- true 2> err && grep -o 'exit code 0' err
"$ASSAY" watch 2>&1 || echo "exit $?"
"$ASSAY" watch --pid 1 -- true 2>&1 || echo "exit $?"
"$ASSAY" watch --pid x 2>&1 || echo "exit $?"
"$ASSAY" watch --pid 2147483647 2>&1 || echo "exit $?"
"$ASSAY" watch -- ./nowhere 2>&1 || echo "exit $?"
"$ASSAY" watch -- nosuchprogram-anywhere 2>&1 || echo "exit $?"
"$ASSAY" watch -- / 2>&1 || echo "exit $?"
"$ASSAY" watch --interval 20 -o w.csv -f csv -- sleep 0.2 2> err
head -n 1 w.csv | tr -d '\r'
awk -F , 'NR > 1 { n++; if ($3 + 0 > 0 && NF == 11 && $1 + 0 >= last) good++; last = $1 } END { print (n >= 3 && good >= n - 1 ? "looks" : "few: " n " " good) }' w.csv
sleep 20 & sleeping=$!
until grep -q sleep /proc/$sleeping/comm; do sleep 0.01; done # until then it is the shell's own copy
"$ASSAY" watch --pid $sleeping --duration 0.3 --interval 50 | grep -o 'Watched  sleep'
kill $sleeping
"$ASSAY" watch -q -o i.json -- sleep 20 2> err & watching=$!
sleep 1
kill -INT $watching
wait $watching || echo "exit $?"
cat err
"$ASSAY" watch -q -o many.json -- true 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35
python=/usr/bin/python3
[ -x $python ] || exit 0
cat > check.py <<'END'
import json
a, i = json.load(open("a.json"))["watch"], json.load(open("i.json"))["watch"]
assert a["exit_code"] == 3 and a["cpu_s"] > 0 and a["minor_faults"] > 0 and a["peak_resident"] > 100_000
assert a["samples"] and a["samples"][0]["processes"] == 1 and a["wall_s"] >= a["samples"][-1]["time_s"]
assert i["interrupted"] and i["wall_s"] < 10 and len(i["samples"]) >= 3
print("figures are there")
END
$python check.py
$python "$CASES/../check_json.py" a.json i.json
