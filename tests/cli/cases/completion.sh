"$ASSAY" completion bash > c.bash
"$ASSAY" completion zsh > c.zsh
"$ASSAY" completion fish > c.fish
# What is offered are words that can be typed, and no placeholders.
grep -E "_assay_offer '[^']*[A-Z]" c.bash || echo "bash: no placeholder"
grep -E ":value:\(?[^)]*\b(NAME|FILE|MODEL|TYPE|PERCENT)\b" c.zsh || echo "zsh: no placeholder"
grep -E -- "-a '[^']*\b(NAME|FILE|MODEL|TYPE|PERCENT)\b" c.fish || echo "fish: no placeholder"
offer() { # WORDS...: what bash offers for the last one
    bash -c 'source ./c.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _assay; echo "${COMPREPLY[@]}"' bash "$@"
}
if command -v bash > /dev/null; then
    bash -n c.bash
    offer assay graph --in
    offer assay he
    offer assay x.onnx --format c
    offer assay ops --format ''
    offer assay check x.onnx -f ''
    offer assay map x.onnx --hardware rtx30
    offer assay map x.onnx --hardware t4,a100
    offer assay map x.onnx --hardware ed
    offer assay map x.onnx --hardware t4,al
    offer assay x.onnx --hardware al # one device is taken
    offer assay devices tp
    offer assay models de
    offer assay x.onnx --lens fv
    offer assay validate x --lens al
    offer assay check x.onnx --metrics p5,p9
    offer assay bench resnet10
    offer assay bench x.onnx --unit ''
    offer assay completion z
    offer assay help lay
    offer assay pipeline x --sweep res
    mkdir folder && touch file && offer assay x.onnx --output-dir fo && offer assay x.onnx --config fi
    offer assay bench x.onnx --goal | grep -c goal || true # bench does not take it
    # --opt=VALUE, which bash splits
    bash -c 'source ./c.bash; COMP_WORDS=(assay x --color = al); COMP_CWORD=4; _assay; echo "${COMPREPLY[@]}"' assay
else
    cat "$CASES/completion.out" | tail -n +4 | sed '$d'
fi
command -v zsh > /dev/null && zsh -n c.zsh
command -v fish > /dev/null && fish --no-execute c.fish
grep -c 'complete -c assay' c.fish | sed 's/[0-9][0-9]*/many/'
