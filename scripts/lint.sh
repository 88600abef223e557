# ./run lint [--all]: formats in check mode, ruff, and clang-tidy on the sources that differ from origin/main
# (without that branch: from the commit before; --all: on every one).
install_debian scripts/debian-habits.txt || exit 1
build_all
status=0
git ls-files -z '*.hpp' '*.cpp' | xargs -0 -r clang-format-19 --dry-run --Werror || status=1
"$PYTHON" -m ruff check . || status=1
"$PYTHON" -m ruff format --check . || status=1

if [ "${1:-}" = --all ]; then
  sources=$(git ls-files '*.cpp')
else
  base=$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD~1)
  sources=$(git diff --name-only --diff-filter=d "$base" -- '*.cpp')
fi
# Only what this build compiles; g++'s own flags are none of clang's business.
sources=$("$PYTHON" - "$BUILD/compile_commands.json" $sources <<'PY'
import json, os, sys
built = {os.path.relpath(entry["file"]) for entry in json.load(open(sys.argv[1]))}
print(*(s for s in sys.argv[2:] if s in built), sep="\n")
PY
)
if [ -n "$sources" ]; then
  say "clang-tidy on $(wc -l <<<"$sources") files"
  xargs -P "$JOBS" -n 4 clang-tidy-19 -p "$BUILD" --quiet --extra-arg=-Wno-unknown-warning-option <<<"$sources" || status=1
fi
exit $status
