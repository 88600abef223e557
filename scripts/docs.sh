# ./run docs: the generated pages of docs/, from the built runtime and the tests' examples.
timed build build_all
"$PYTHON" scripts/reference.py
