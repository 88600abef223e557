# ./run docs: the generated pages of docs/, from the built runtime and the tests' examples; then the site, with the
# tutorials executed, in build/docs/html. `./run docs pages` stops before the site.
timed build build_all
"$PYTHON" scripts/reference.py
[ "${1:-}" = pages ] && exit
pip_install requirements-docs.txt
timed site "$PYTHON" scripts/documentation.py build/docs
