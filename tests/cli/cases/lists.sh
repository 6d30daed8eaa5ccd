"$ASSAY" ops conv | cut -c 1-56
"$ASSAY" ops 'Reduce*' --json | head -n 2 | cut -c 1-60
"$ASSAY" lenses --json | head -n 2 | cut -c 1-60
"$ASSAY" doctor | cut -c 1-15
