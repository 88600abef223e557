# ./run wheel: the release build as a wheel with every library inside, in dist/. Prints its path.
[ "$PRESET" = release ] || say "A wheel of the preset $PRESET: for trying out, not for users."
build_all
pip_install requirements-wheel.txt
"$PYTHON" scripts/wheel.py "$BUILD" dist
