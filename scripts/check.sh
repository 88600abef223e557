# ./run check: the sanitised build, GoogleTest in it, and the fuzzers of tests/robust, bounded. ARGS go to tests/robust/run.
# XCUDA_PRESET=tsan ./run check: what runs in threads, under ThreadSanitizer.
if [ -z "${XCUDA_PRESET:-}" ]; then
  XCUDA_PRESET=asan exec ./run check "$@"
fi
timed build build_all

export XCUDA_CACHE_DIR=$BUILD/check-cache
# libstdc++ too: a Python that is not C++ has none yet when the sanitizer looks for the functions that throw.
preloaded() { echo "$(c++ -print-file-name="lib$1.so") $(c++ -print-file-name=libstdc++.so.6)"; }
run_python() {
  case "$PRESET" in
    asan)
      env LD_PRELOAD="$(preloaded asan)" ASAN_OPTIONS=detect_leaks=0 \
        UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 "$PYTHON" "$@"
      ;;
    # Addresses as TSan's shadow wants them.
    tsan) env LD_PRELOAD="$(preloaded tsan)" setarch -R "$PYTHON" "$@" ;;
    *) "$PYTHON" "$@" ;;
  esac
}
failed=0
if [ "$PRESET" = tsan ]; then
  export TSAN_OPTIONS=suppressions=$ROOT/scripts/tsan.supp:die_after_fork=0:report_signal_unsafe=0
  # TSan holds signals back until the thread comes out of the compiled kernel: no interrupts here.
  timed ctest setarch -R ctest --test-dir "$BUILD" --output-on-failure --timeout 600 -j 2 -R 'device_cpu|launch_' -E Interrupt || failed=1
  timed threads run_python tests/robust/run threads "$@" || failed=1
  timed pytest run_python -m pytest -q tests/python/test_core_{async,streams,graph}.py -k 'not interrupt' || failed=1
else
  timed ctest ctest --test-dir "$BUILD" --output-on-failure --timeout 600 -j 2 || failed=1
  timed fuzzers run_python tests/robust/run "$@" || failed=1
  timed faults run_python tests/faults/run || failed=1
fi

echo
echo "Time per stage:"
printf '  %s\n' "${TIMINGS[@]}"
exit $failed
