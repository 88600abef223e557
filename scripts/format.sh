# ./run format: the whole tree in its one style.
install_debian scripts/debian-habits.txt || exit 1
prepare_venv
git ls-files -z '*.hpp' '*.cpp' | xargs -0 -r clang-format-19 -i
"$PYTHON" -m ruff check --quiet --fix-only .
"$PYTHON" -m ruff format --quiet .
git diff --stat
