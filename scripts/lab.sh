# ./run lab
build_all
[ $CONDA = 1 ] || pip_install requirements-lab.txt
# The whole tree, since tutorials link to docs/; opened at the tutorials.
exec "$PYTHON" -m jupyterlab --notebook-dir "$ROOT" --LabApp.default_url=/lab/tree/notebooks "$@"
