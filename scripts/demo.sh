# ./run demo: the first tutorial, executed by the kernel just built.
build_all
mkdir -p build/demo
"$PYTHON" -m nbconvert --to notebook --execute --log-level WARN \
  --ExecutePreprocessor.kernel_name=xcuda --ExecutePreprocessor.timeout=300 \
  --output-dir build/demo --output 01_first_kernel.ipynb notebooks/01_first_kernel.ipynb </dev/null
"$PYTHON" -m nbconvert --to html --log-level WARN --output-dir build/demo build/demo/01_first_kernel.ipynb </dev/null
say "Executed notebook, and the same as a page to look at (build/demo/01_first_kernel.html):"
echo "$ROOT/build/demo/01_first_kernel.ipynb"
