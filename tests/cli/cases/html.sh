# One file of HTML that fetches nothing and holds the profile.
data() { sed -n 's/.*data-encoding="gzip">\([^<]*\)<.*/\1/p' "$1" | base64 -d | gunzip; }
"$ASSAY" resnet18 -q -o deep/r.html 2> err || {
    code=$?
    [ $code = 4 ] && cat err && exit 77
    exit $code
}
grep -c '<script type="text/plain" id="assay-data" data-encoding="gzip">' deep/r.html
grep -o "connect-src 'none'" deep/r.html
! grep -E -o '(src|href)="?(https?:)?//[^ ]*|@import[^;]*|url\((https?:)?//[^)]*' deep/r.html
data deep/r.html > inside.json
grep -o '"mode":"report","graphs":true,"details":true' inside.json
grep -o '"total_macs":1814073344' inside.json
"$ASSAY" resnet18 -f html --no-graphs --no-details > r.html
data r.html | grep -o '"graphs":false,"details":false'
"$ASSAY" version --licenses | grep -E '^(Apache ECharts|ZRender|tslib) [0-9]' | sed 's/ [0-9.]*$//'
