"$ASSAY" models 'vgg1*'
"$ASSAY" models lenet5 --json
"$ASSAY" models nothing || echo "exit $?"
"$ASSAY" models -f csv || echo "exit $?"
# Names are unique, and every row counts something.
"$ASSAY" models | tail -n +2 | awk '{ print $1 }' | sort | uniq -d
"$ASSAY" models | tail -n +2 | awk '$3 == "0" || $4 == "0.000" && $1 !~ /^(lenet|mlp)$/ { print }'
