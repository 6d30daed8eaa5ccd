# README.md's table of commands is that of the program, and its C program compiles.
"$ASSAY" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\{1,\}\)  .*/\1/p' > commands
sed -n '/^## Commands/,/^## Exact/s/^| `\([a-z]*\)` .*/\1/p' "$CASES/../../../README.md" | diff commands - || true
awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' "$CASES/../../../README.md" > cost.c
command -v cc > /dev/null && cc -std=c11 -Wall -Wextra -Werror -fsyntax-only -I "$CASES/../../../include" cost.c
grep -c assay_model_open cost.c
