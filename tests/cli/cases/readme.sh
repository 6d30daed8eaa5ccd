# The examples of README.md are true. Every ```sh block is run, one after the other in one folder; each
# line of the ```text block behind it must be a line of what came out, blanks apart; "..." stands for what
# was left out.
mkdir bin && ln -s "$ASSAY" bin/assay && PATH=$PWD/bin:$PATH
awk '/^```(sh|text)$/ { kind = substr($0, 4); if (kind == "sh") n++; file = sprintf("%02d.%s", n, kind); next }
     /^```/ { file = ""; next }
     file { print > file }' "$CASES/../../../README.md"
squeezed() { sed 's/[[:space:]]\{1,\}/ /g; s/ $//' "$1"; }
for block in [0-9]*.sh; do
    name=${block%.sh}
    sh -e "$block" > out 2>&1 || { echo "exit $? of: $(cat "$block")"; head -n 5 out; }
    [ -f "$name.text" ] || continue
    squeezed out > got
    squeezed "$name.text" | grep -v -x -e '' -e '\.\.\.' | while IFS= read -r line; do
        grep -q -x -F -e "$line" got || printf '%s\nshould print: %s\n' "$(cat "$block")" "$line"
    done
done
ls [0-9]*.sh | awk 'END { print (NR >= 11 ? "ran them all" : NR " blocks are too few") }'
# Its table of commands is that of the program, and its C program is one.
"$ASSAY" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\{1,\}\)  .*/\1/p' > commands
sed -n '/^## Commands/,/^## Exact/s/^| `\([a-z]*\)` .*/\1/p' "$CASES/../../../README.md" | diff commands - || true
awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' "$CASES/../../../README.md" > cost.c
command -v cc > /dev/null && cc -std=c11 -Wall -Wextra -Werror -fsyntax-only -I "$CASES/../../../include" cost.c
grep -c assay_model_open cost.c
