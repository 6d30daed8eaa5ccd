"$ASSAY" help --man > assay.1.scd
head -n 5 assay.1.scd
command -v scdoc > /dev/null && { scdoc < assay.1.scd > assay.1 && grep -q input-shape assay.1; }
echo good
