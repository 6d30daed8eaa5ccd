# The MCP server on stdin and stdout; tests/mcp/client.mjs has the protocol's own client.
command -v python3 > /dev/null || { echo "python3 is missing"; exit 77; }
ask() { printf '{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}\n' "$1" "$2" | "$ASSAY" mcp; }
"$ASSAY" mcp < /dev/null && echo "ends with stdin"
printf '%s' '{"jsonrpc":"2.0","id":1,"method":"ping"}' | "$ASSAY" mcp
printf '\n \r\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n' | "$ASSAY" mcp
ask tools/call '{"name":"profile","arguments":{"model":"lenet"}}' |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["result"]["structuredContent"]["total_macs"])'
ask tools/call '{"name":"explain_layer","arguments":{"model":"lenet","layer":"1"}}' |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["result"]["content"][0]["text"])'
ask tools/call '{"name":"profile","arguments":{"model":"lenett"}}'
ask tools/call '{"name":"profil"}'
echo 'x' | "$ASSAY" mcp
"$ASSAY" mcp more 2> /dev/null || echo "exit $?"
"$ASSAY" mcp --batch 4 2> /dev/null || echo "exit $?"
printf '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"%0200d"}}\n' 0 | "$ASSAY" mcp --raise-limit mcp-message=100
