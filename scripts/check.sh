# ./run check: the sanitised build, GoogleTest in it, and the fuzzers of tests/robust, bounded. ARGS go to tests/robust/run.
if [ -z "${XCUDA_PRESET:-}" ]; then
  XCUDA_PRESET=asan exec ./run check "$@"
fi
timed build build_all

export XCUDA_CACHE_DIR=$BUILD/check-cache
failed=0
run_python() {
  if [ "$PRESET" = asan ]; then
    # libstdc++ too: a Python that is not C++ has none yet when the sanitizer looks for the functions that throw.
    env LD_PRELOAD="$(c++ -print-file-name=libasan.so) $(c++ -print-file-name=libstdc++.so.6)" \
      ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 "$PYTHON" "$@"
  else
    "$PYTHON" "$@"
  fi
}
timed ctest ctest --test-dir "$BUILD" --output-on-failure --timeout 600 -j 2 || failed=1
timed fuzzers run_python tests/robust/run "$@" || failed=1
timed faults run_python tests/faults/run || failed=1

echo
echo "Time per stage:"
printf '  %s\n' "${TIMINGS[@]}"
exit $failed
