# ./run bundle: Python, the wheel, JupyterLab and the tutorials in one archive for machines without a network, in dist/.
# Then unpacks it elsewhere and executes all tutorials there, without anything of this tree or this user's settings.
source scripts/wheel.sh
archive=$("$PYTHON" scripts/bundle.py "$ROOT"/dist/xeus_cuda-*.whl dist)
elsewhere=$(mktemp -d)
trap 'rm -rf "$elsewhere"' EXIT
tar -C "$elsewhere" -xzf "$archive"
start=$(echo "$elsewhere"/xcuda-*/xcuda)
alone() { (cd "$elsewhere" && env -i HOME="$elsewhere" PATH=/usr/bin:/bin "$start" "$@"); }
alone doctor
alone tutorials executed
du -h "$archive"
