"$ASSAY" devices | head -n 4
"$ASSAY" devices | grep -c gpu
"$ASSAY" devices 'm4*'
"$ASSAY" devices epyc --json | head -c 160; echo
"$ASSAY" devices nothing || echo "exit $?"
cat > mine.json <<END
[{"name": "My card", "class": "gpu", "fp32_tflops": 20, "fp16_tflops": 40, "memory_gib": 16, "bandwidth_gbs": 640}]
END
"$ASSAY" devices --hardware mine.json
cat > bits.csv <<END
name,class,fp32_tflops,memory_gib,bandwidth_gbs
My card,gpu,20,16,5120
END
"$ASSAY" devices --hardware bits.csv || echo "exit $?"
sed 's/fp16_tflops": 40/fp16_tflops": 900/' mine.json > sparse.json
"$ASSAY" devices --hardware sparse.json || echo "exit $?"
"$ASSAY" devices --hardware none.csv || echo "exit $?"
