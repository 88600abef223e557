# ./run browser [ARGS]: JupyterLab and Notebook 7 in a real browser. Its pictures, light and dark, go to build/browser; LOOK at them.
install_debian scripts/debian-browser.txt || exit 1
build_all
[ $CONDA = 1 ] || pip_install requirements-lab.txt
pip_install requirements-browser.txt
export XCUDA_SCREENSHOTS=$ROOT/build/browser
timed browser "$PYTHON" -m pytest tests/browser "$@" </dev/null && status=0 || status=$?
printf '%s\n' "${TIMINGS[@]}"
ls "$XCUDA_SCREENSHOTS"/*.png
exit $status
