# ./run lab
build_all
pip_install requirements-lab.txt
exec "$PYTHON" -m jupyterlab --notebook-dir notebooks "$@"
