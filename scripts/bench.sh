# ./run bench [NAMES]: the measurements of bench/, each a table with ratios.
install_debian bench/debian-packages.txt || say "Going on without those; their rows are left out."
build_all
[ $CONDA = 1 ] || pip_install requirements-bench.txt
# Old OpenBLAS builds need this setting on some processors; it slows a current NumPy, the peer measured here.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
[ $# -gt 0 ] || set -- $(cd bench && ls *.py | sed 's/\.py$//' | grep -v '^_')
for name in "$@"; do
  "$PYTHON" "bench/$name.py" </dev/null || say "bench/$name.py ended with $?; going on."
done
