# ./run lab
build_all
[ $CONDA = 1 ] || pip_install requirements-lab.txt
exec "$PYTHON" -m jupyterlab --notebook-dir notebooks "$@"
