# ./run help
cat <<'TEXT'
./run demo          build, execute notebooks/01_first_kernel.ipynb, print the path of the result
./run test [ARGS]   build, then GoogleTest, pytest and the notebooks; ARGS go to pytest
./run check [ARGS]  the sanitised build (XCUDA_PRESET: another), GoogleTest, the fault suite and fuzzers, bounded
./run lab [ARGS]    build, then JupyterLab with the xcuda kernel
./run build         .venv, C++ build, xcuda and its kernelspec installed in .venv
./run wheel         the release build as a wheel with every library inside, in dist/
./run bundle        Python, the wheel, JupyterLab and the tutorials in one archive for machines without a network
./run browser       JupyterLab with the kernel in Chromium: tests, and pictures in build/browser
./run bench [NAMES] side-by-side measurements of bench/
./run docs          docs/LANGUAGE.md and docs/REFUSALS.md (./run docs pages: only these), and the site in build/docs/html
./run format        clang-format and ruff over the tree
./run lint          clang-format and ruff in check mode, clang-tidy on the C++ files that changed (or: --all)

Settings, by environment: XCUDA_PRESET (release, ci, dev, asan, tsan), XCUDA_JOBS (compile jobs), XCUDA_VENV, XCUDA_BUILD.
TEXT
