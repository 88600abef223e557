#!/bin/sh
# xcuda: JupyterLab with the xcuda kernel, out of this folder. `xcuda help` tells the rest.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
python=$here/python/bin/@PYTHON@
export PYTHONNOUSERSITE=1
command=${1:-lab}
[ $# -gt 0 ] && shift
case "$command" in
  lab) exec "$python" -P -m jupyterlab --notebook-dir "$here" --LabApp.default_url=/lab/tree/notebooks "$@" ;;
  tutorials) exec "$python" -P "$here/python/tutorials.py" "$here/notebooks" "$@" ;;
  python) exec "$python" "$@" ;;
  doctor | install-kernel | --version) exec "$python" -P -m xcuda.command "$command" "$@" ;;
  *)
    cat <<TEXT
./xcuda [lab] [OPTIONS]   JupyterLab, opened at the tutorials
./xcuda tutorials [OUT]   executes all tutorials into OUT (./executed), and prints what they cost
./xcuda python [...]      the Python in this folder
./xcuda doctor            checks devices, libraries, kernel and cache
./xcuda install-kernel    tells another Jupyter of this kernel
TEXT
    ;;
esac
