# ./run build
build_all
say "xcuda is in $VENV. Start a notebook with ./run lab, or: $PYTHON -m xcuda.kernel --help"
