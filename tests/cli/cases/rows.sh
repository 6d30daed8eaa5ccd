# Every row of the tables of commands and options: explained, in the man page, completed by the three shells.
"$ASSAY" help --man > man
for shell in bash zsh fish; do "$ASSAY" completion $shell > $shell; done
commands=$("$ASSAY" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\{1,\}\)  .*/\1/p')
for command in $commands; do
    "$ASSAY" help $command > text
    head -n 1 text | grep -q "^assay $command" || echo "help $command does not begin with its name"
    # A line after the title, another after "Options:".
    awk 'NR == 3 && length($0) < 10 { print "nothing is said of it" }' text
    grep -q "^\*assay $command\*" man || echo "$command is not in the man page"
    "$ASSAY" $command --help | cmp - text || echo "$command --help differs from help $command"
    grep "^    $command) options=" bash > of_command || echo "$command is not completed by bash"
    sed -n "/^    $command)/,/;;/p" zsh > zsh_of_command
    grep -q -- "-a $command -d '.\{9,\}'" fish || echo "$command is not completed by fish"
    for option in $(sed -n 's/^  \(-., \|    \)--\([a-z-]*\).*/\2/p' text); do
        grep -q -e "--$option " of_command || echo "$command --$option is not completed by bash"
        grep -q -e "--$option[^a-z-]" zsh_of_command || echo "$command --$option is not completed by zsh"
        grep -q -e "-l $option " fish || echo "--$option is not completed by fish"
        grep -A 1 -e "^\(\*-.\*, \)*\*--$option\*" man | grep -q '	...' || echo "--$option is not explained in the man page"
    done
done
[ "$(echo "$commands" | wc -l)" -gt 10 ] && echo "every row"
