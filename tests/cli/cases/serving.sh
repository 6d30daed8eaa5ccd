# Language models as servers run them: users, objectives, sweeps, several models, capacity.
# Numbers of the prediction move with the coefficients; their order and the verdicts do not.
"$ASSAY" pipeline llama-3.1-8b --hardware h100-sxm,a100-80 --slo ttft:500ms,itl:50ms --sweep users=1,64,1000 --json > p.json
grep -c '"users": [0-9]*,' p.json
grep -E '"(verdict|basis|engine|within_slo)"' p.json | sort | uniq -c | sed 's/^ *//'
"$ASSAY" pipeline gpt2 --sweep batch=1,4 --sweep context=256,1024 --memory-limit 2GiB | sed -n '/^Sweep/,/^Memory/p'
"$ASSAY" pipeline gpt2 --hardware t4 --sweep prompt=64,128 --json | grep -c '"device": "t4"'
"$ASSAY" pipeline gpt2 distilgpt2 --hardware l4,t4 | sed -n '/^On devices  expected times of a server$/,$p' | grep -cE '^ +(gpt2|distilgpt2) +(l4|t4) '
"$ASSAY" pipeline llama-3.1-8b --prompt-tokens 2048 --generate 256 --batch 8 --hardware rtx4090 --json | grep '"verdict"'
"$ASSAY" pipeline llama-3.1-8b --prompt-tokens 2048 --generate 256 --batch 8 --memory-limit 24GiB | grep 'Memory given'
"$ASSAY" pipeline gpt-oss-20b | grep -E 'Weights  '
"$ASSAY" pipeline gpt-oss-20b --precision bf16 | grep -E 'Weights  '
echo "---- capacity"
"$ASSAY" capacity llama-3.1-8b gpt2 --hardware h100-sxm,t4 --target 50rps --slo ttft:500ms,itl:50ms --json > c.json
grep -E '"(source|device|feasible|predicted|best|why)"' c.json
"$ASSAY" capacity llama-3.1-70b --hardware t4,l4 --target 1 > screen || echo "exit $?"
head -n 5 screen
echo "---- refused"
"$ASSAY" pipeline gpt2 --slo itl:5ms || echo "exit $?"
"$ASSAY" pipeline gpt2 --sweep users=1,2 || echo "exit $?"
"$ASSAY" pipeline gpt2 --sweep steps=1,2 || echo "exit $?"
"$ASSAY" pipeline gpt2 --sweep context=100 || echo "exit $?"
"$ASSAY" pipeline sd15 --sweep batch=1 || echo "exit $?"
"$ASSAY" pipeline sd15 --slo itl:5ms || echo "exit $?"
"$ASSAY" capacity sd15 --hardware t4 --target 1 || echo "exit $?"
"$ASSAY" capacity gpt2 --hardware t4 --target 1 --latency 5ms || echo "exit $?"
"$ASSAY" capacity gpt2 --hardware t4 || echo "exit $?"
"$ASSAY" capacity x.json --slo itl:5ms --target 1 || echo "exit $?"
