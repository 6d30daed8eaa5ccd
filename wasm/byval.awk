# Moves the copy of a struct that is an argument from the call into the function that is called, where it is written
# once and not at every call:  awk -f wasm/byval.awk IN.ll > OUT.ll   (LLVM IR of clang -fno-discard-value-names)
#
# clang passes a struct of several members `byval`: the caller copies it to a place of its own and passes the address.
# Here the caller passes the address of what it has, and the function copies it first of all, so both see what they saw
# before. A call that may end the caller's frame first (tail) must not pass such an address and becomes a plain one.
# All objects of a program must be made so; no function of the C library takes a struct.
function memcpy(to, from, type) {
    return "  call void @llvm.memcpy.p0i8.p0i8.i32(i8* " to ", i8* " from ", i32 ptrtoint (" type "* getelementptr (" \
        type ", " type "* null, i32 1) to i32), i1 false)"
}
function cast(name, of, type) { return "  " name " = bitcast " type "* " of " to i8*" }
# The first argument of the line that is byval gets another name; its own is the copy.
function own_copy(    part, before, after, word, type, name) {
    match($0, /byval\([^()]*\) align [0-9]+ %[A-Za-z0-9_.]+/)
    part = substr($0, RSTART, RLENGTH)
    before = substr($0, 1, RSTART - 1)
    after = substr($0, RSTART + RLENGTH)
    split(part, word, /byval\(|\) align | %/)
    type = word[2]
    name = "%" word[4]
    copies = copies "  " name " = alloca " type ", align " word[3] "\n" cast(name ".to", name, type) "\n" \
        cast(name ".from", name ".given", type) "\n" memcpy(name ".to", name ".from", type) "\n"
    $0 = before "align " word[3] " " name ".given" after
}
/^declare .*byval\(/ { gsub(/byval\([^()]*\) /, "") }
/^declare .*@llvm.memcpy.p0i8.p0i8.i32\(/ { declared = 1 }
/^define .*byval\(/ {
    while (/byval\(/)
        own_copy()
    moved = 1
}
copies != "" && /^entry:/ { print; printf "%s", copies; copies = ""; next }
/ call .*byval\(/ { gsub(/byval\([^()]*\) /, ""); sub(/tail call/, "call") }
{ print }
END {
    if (moved && !declared)
        print "declare void @llvm.memcpy.p0i8.p0i8.i32(i8* noalias nocapture writeonly, i8* noalias nocapture readonly, i32, i1 immarg)"
}
