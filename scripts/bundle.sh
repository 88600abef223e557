# ./run bundle [lean]: Python, the wheel, JupyterLab and the tutorials in one archive for machines without a network, in dist/.
# lean: without JupyterLab, half as large. Then unpacks it elsewhere and executes all tutorials there, without anything of
# this tree or this user's settings.
form=${1:-whole}
[ "$form" = whole ] || [ "$form" = lean ] || die "./run bundle knows no '$form'; it takes 'lean', or nothing."
source scripts/wheel.sh
lean=()
[ "$form" = lean ] && lean=(--lean)
archive=$("$PYTHON" scripts/bundle.py "${lean[@]}" "$ROOT"/dist/xeus_cuda-*.whl dist)
elsewhere=$(mktemp -d)
trap 'rm -rf "$elsewhere"' EXIT
tar -C "$elsewhere" -xf "$archive"
start=$(echo "$elsewhere"/xcuda-*/xcuda)
alone() { (cd "$elsewhere" && env -i HOME="$elsewhere" PATH=/usr/bin:/bin "$start" "$@"); }
alone doctor
alone tutorials executed
du -h "$archive"
