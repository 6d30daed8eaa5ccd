"$ASSAY" completion bash > c.bash
"$ASSAY" completion zsh > c.zsh
"$ASSAY" completion fish > c.fish
if command -v bash > /dev/null; then
    bash -n c.bash
    bash -c 'source ./c.bash; COMP_WORDS=(assay graph --in); COMP_CWORD=2; _assay; echo "${COMPREPLY[@]}"'
    bash -c 'source ./c.bash; COMP_WORDS=(assay he); COMP_CWORD=1; _assay; echo "${COMPREPLY[@]}"'
    bash -c 'source ./c.bash; COMP_WORDS=(assay x.onnx --format c); COMP_CWORD=3; _assay; echo "${COMPREPLY[@]}"'
else
    printf '%s\n' --input-shape help "console csv"
fi
command -v zsh > /dev/null && zsh -n c.zsh
command -v fish > /dev/null && fish --no-execute c.fish
grep -c 'complete -c assay' c.fish | sed 's/[0-9][0-9]*/many/'
