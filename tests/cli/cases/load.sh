# Scripted servers on loopback: what each check compares is in check_load.py.
command -v python3 > /dev/null || { echo "python3 is missing"; exit 77; }
python3 "$CASES/../check_load.py" "$ASSAY"
