# ./run test: every runner runs, even after another failed; each one's own summary is repeated at the end.
timed build build_all

export XCUDA_CACHE_DIR=$BUILD/test-cache
LOGS=$BUILD/test-logs
mkdir -p "$LOGS"
failed=0
[ $# -gt 0 ] && only_pytest=1 || only_pytest=0

# Sanitised modules in a Python that is not: the run-time library must come first, and C++'s with it, for what throws.
if [ "$PRESET" = asan ]; then
  preloaded="$(c++ -print-file-name=libasan.so) $(c++ -print-file-name=libstdc++.so.6)"
  PYTHON_COMMAND=(env LD_PRELOAD="$preloaded" ASAN_OPTIONS=detect_leaks=0 "$PYTHON")
else
  PYTHON_COMMAND=("$PYTHON")
fi

export XCUDA_FAKE_CUDA=$BUILD/fake_cuda/libcuda.so.1

logged() { # logged NAME COMMAND...
  local log=$LOGS/$1.log
  shift
  "$@" </dev/null 2>&1 | tee "$log"
  return "${PIPESTATUS[0]}"
}

# JupyterLab in a real browser, beside the notebooks, which use one core: where Chromium is, or CI may install it. It is a
# job in the background, where a shell has SIGINT ignored: what interrupts a kernel needs it as it was.
BROWSER=
browser_beside() {
  [[ $PRESET =~ ^(release|ci)$ ]] && [ $CONDA = 0 ] || return 0
  command -v chromium >/dev/null || [ "${CI:-}" = true ] || {
    say "browser: not run, since there is no Chromium; ./run browser installs it."
    return 0
  }
  (
    { (install_debian scripts/debian-browser.txt) && (pip_install requirements-lab.txt) && (pip_install requirements-browser.txt); } || {
      echo "Chromium, JupyterLab or Playwright could not be installed."
      exit 1
    }
    XCUDA_SCREENSHOTS=$BUILD/browser exec env --default-signal=INT,QUIT \
      timeout -s INT -k 20 400 "$PYTHON" -m pytest tests/browser
  ) </dev/null >"$LOGS/browser.log" 2>&1 &
  BROWSER=$!
}

if [ $only_pytest = 1 ]; then
  timed pytest logged pytest "${PYTHON_COMMAND[@]}" -m pytest "$@" || failed=1
else
  timed ctest logged ctest ctest --test-dir "$BUILD" --output-on-failure --timeout 300 -j 2 || failed=1
  # A worker that crashes is not replaced: with loadfile the rest would wait for its file for ever.
  timed pytest logged pytest timeout -s INT -k 60 1200 "${PYTHON_COMMAND[@]}" -m pytest -n 2 --dist loadfile \
    --max-worker-restart 0 tests/python --ignore tests/python/kernel || failed=1
  # One at a time: they interrupt, and wait for what must come soon.
  timed kernel logged kernel timeout -s INT -k 60 600 "${PYTHON_COMMAND[@]}" -m pytest tests/python/kernel || failed=1
  browser_beside
  timed notebooks logged notebooks timeout -s INT -k 60 600 "${PYTHON_COMMAND[@]}" -m pytest tests/notebooks || failed=1
  if [ -n "$BROWSER" ]; then
    timed browser wait "$BROWSER" || { failed=1; cat "$LOGS/browser.log"; }
  fi
  if [[ $PRESET =~ ^(release|ci)$ ]] && [ $CONDA = 0 ]; then
    pip_install requirements-wheel.txt
    timed pack logged pack "$PYTHON" scripts/wheel.py "$BUILD" dist || failed=1
    timed wheel logged wheel "$PYTHON" -m pytest tests/wheel || failed=1
  fi
fi

echo
echo "Time per stage:"
printf '  %s\n' "${TIMINGS[@]}"
for log in ctest pytest kernel notebooks browser wheel; do
  [ $only_pytest = 1 ] && [ $log != pytest ] && continue
  [ -e "$LOGS/$log.log" ] || continue
  echo "$log:"
  grep -E 'tests passed|tests failed|No tests were found|^=+ .*(passed|failed|error|no tests ran).* =+$' "$LOGS/$log.log" | tail -n 1
done
exit $failed
