# Without an engine: what is known without one, and the sentence that helps; exit 5.
"$ASSAY" bench lenet --engine-lib nowhere.so > out && exit 1 || echo "exit $?"
grep -c 'Parameters' out
"$ASSAY" profile lenet --engine-lib "$CASES/run_no_engine.sh" > out 2> err && exit 1 || echo "exit $?"
grep -c 'Parameters' out
grep -c 'ASSAY_ORT_LIB' err
"$ASSAY" layers lenet -q -o r.json --engine-lib nowhere.so 2> err && exit 1 || echo "exit $?"
grep -c '"total_flops"' r.json
# Another library is no engine either.
other=$(ldd "$ASSAY" | awk '/libc\.so/ { print $3 }')
"$ASSAY" bench lenet --engine-lib "$other" > out 2> err && exit 1 || echo "exit $?"
grep -o OrtGetApiBase err
grep -c 'Parameters' out
