# A process watched: its figures are in the file, Ctrl-C keeps what was seen. The live line says when it was looked at.
python=/usr/bin/python3
[ -x $python ] || { echo "no python3"; exit 77; }
when() { $python "$CASES/../when.py" '(processor.*){3}' "$@" || echo "exit $?"; }
until_it_is_there='until [ -e enough ]; do :; done; exit 3'
when enough "$ASSAY" watch --interval 20 -o a.json -o w.csv -- sh -c "$until_it_is_there" 2> err
head -n 1 w.csv | tr -d '\r'
awk -F , 'NR > 1 { n++; if ($3 + 0 > 0 && NF == 11 && $1 + 0 >= last) good++; last = $1 } END { print (n >= 3 && good >= n - 1 ? "looks" : "few: " n " " good) }' w.csv
when INT "$ASSAY" watch --interval 20 -o i.json -- sleep 600 2> err
cat err
cat > check.py <<'END'
import json
a, i = json.load(open("a.json"))["watch"], json.load(open("i.json"))["watch"]
assert a["exit_code"] == 3 and a["cpu_s"] > 0 and a["minor_faults"] > 0 and a["peak_resident"] > 0
assert a["samples"] and a["samples"][0]["processes"] == 1 and a["wall_s"] >= a["samples"][-1]["time_s"]
assert i["interrupted"] and len(i["samples"]) >= 3
print("figures are there")
END
$python check.py
$python "$CASES/../check_json.py" a.json i.json
