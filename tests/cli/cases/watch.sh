# A process watched: its exit code is ours.
"$ASSAY" watch -q -- sh -c 'echo its own output; exit 3' || echo "exit $?"
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
sleep 600 & sleeping=$!
until grep -q sleep /proc/$sleeping/comm; do sleep 0.01; done # until then it is the shell's own copy
"$ASSAY" watch --pid $sleeping --duration 0.3 --interval 50 | grep -o '^sleep'
kill $sleeping
"$ASSAY" watch -q -o many.json -- true 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35
