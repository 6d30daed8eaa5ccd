# What a command prints and what report prints of its saved result are the same bytes, for every view that needs no engine.
same() { # VIEW, then the command and its options
    view=$1
    shift
    "$ASSAY" "$@" -o saved.json > live.txt
    "$ASSAY" report saved.json --view "$view" > again.txt
    cmp live.txt again.txt && echo "$view: same"
}
same all graph lenet --columns 80
same memory memory lenet --at fc1
same map map lenet --hardware t4
same map map lenet --hardware all
same fuse fuse lenet
"$ASSAY" graph gpt2 --training --verbose --depth 2 -o saved.json > live.txt
"$ASSAY" report saved.json --verbose --depth 2 | cmp - live.txt && echo "verbose: same"
"$ASSAY" watch -o saved.json -- true 2> live.txt
"$ASSAY" report saved.json --view watch | cmp - live.txt && echo "watch: same"
echo "== the stages of a result that was not measured"
"$ASSAY" graph lenet -o saved.json -q
"$ASSAY" report saved.json --view profile
"$ASSAY" report saved.json --view nowhere || echo "exit $?"
"$ASSAY" graph lenet --view bench || echo "exit $?"
