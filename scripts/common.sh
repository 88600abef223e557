# Shared by every ./run command: where things are, and how a machine is made ready. Sourced from the top folder.
ROOT=$PWD
PRESET=${XCUDA_PRESET:-release}
BUILD=${XCUDA_BUILD:-$ROOT/build/$PRESET}
VENV=${XCUDA_VENV:-$ROOT/.venv}
JOBS=${XCUDA_JOBS:-$(nproc)}
TIMINGS=()
# An active environment made from environment.yml has everything, and is used in place of .venv.
CONDA=0
if [ -n "${CONDA_PREFIX:-}" ] && [ -e "$CONDA_PREFIX/include/xeus/xeus.hpp" ]; then
  CONDA=1
  VENV=$CONDA_PREFIX
fi
PYTHON=$VENV/bin/python

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
fingerprint() { cat "$@" | sha256sum | cut -c1-16; }

# install_debian FILE: apt-get what FILE lists and dpkg lacks. Without apt or root, only says what is missing.
install_debian() {
  command -v dpkg-query >/dev/null || return 0
  local wanted missing
  wanted=$(sed 's/#.*//' "$1")
  missing=$(comm -23 <(printf '%s\n' $wanted | sort -u) \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null | sed -n 's/^installed //p' | sort -u) | paste -sd' ')
  [ -z "$missing" ] && return 0
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    say "These Debian packages are missing: $missing"
    say "As root: apt-get install $missing    Or: conda env create -f environment.yml && conda activate xcuda"
    return 1
  fi
  say "apt-get install: $missing"
  local log=$ROOT/build/apt.log
  mkdir -p "$ROOT/build"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update && apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1 </dev/null ||
    { tail -n 20 "$log" >&2; die "apt-get failed; the whole log is $log."; }
}

# The system's packages, from apt or from an active conda environment.
prepare_system() {
  if [ $CONDA = 1 ]; then
    say "Using the conda environment $VENV."
    return
  fi
  install_debian scripts/debian-packages.txt || exit 1
  local tool
  for tool in cmake ninja c++ python3; do
    command -v "$tool" >/dev/null || die "'$tool' is missing: see scripts/debian-packages.txt, or use environment.yml."
  done
}

# The Python that .venv is made from: Debian's own, with headers and ensurepip.
base_python() {
  local candidate
  for candidate in "${XCUDA_PYTHON:-}" /usr/bin/python3.11 /usr/bin/python3; do
    [ -x "$candidate" ] || continue
    "$candidate" - <<'PY' 2>/dev/null && { echo "$candidate"; return; }
import ensurepip, os, sys, sysconfig
sys.exit(sys.version_info < (3, 11) or not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))
PY
  done
  return 1
}

# lacking FILE: what of FILE's requirements the Python in use has not, by name.
lacking() {
  "$PYTHON" - "$1" <<'PY'
import re, sys
from importlib.metadata import PackageNotFoundError, distribution

lines = (line.partition("#")[0].strip() for line in open(sys.argv[1]))
for name in (re.match(r"[\w.-]+", line)[0] for line in lines if line):
    try:
        distribution(name)
    except PackageNotFoundError:
        print(name)
PY
}

# pip_install FILE: FILE's requirements into .venv, once for each content of FILE, and again where one of them is gone.
pip_install() {
  local stamp print missing
  stamp=$VENV/.xcuda-$(basename "$1" .txt)
  print=$(fingerprint "$1")
  missing=$(lacking "$1" | paste -sd' ')
  [ "$(cat "$stamp" 2>/dev/null)" = "$print" ] && [ -z "$missing" ] && return 0
  say "pip install -r $1${missing:+ (missing: $missing)}"
  "$PYTHON" -m pip install --quiet --disable-pip-version-check -r "$1" </dev/null || {
    say "pip could not install $1.${missing:+ These are missing in $VENV: $missing}"
    die "Where the network is there again: $PYTHON -m pip install -r $1"
  }
  echo "$print" >"$stamp"
}

prepare_venv() {
  if [ $CONDA = 1 ]; then
    local missing
    missing=$(lacking requirements.txt | paste -sd' ')
    [ -z "$missing" ] ||
      say "Python packages that the conda environment $VENV lacks: $missing. To bring them: conda env update -f environment.yml"
    return 0
  fi
  if [ ! -x "$PYTHON" ]; then
    local base
    base=$(base_python) || die "No Python >= 3.11 with headers and ensurepip. Debian: apt-get install python3-dev python3-venv."
    say "Making $VENV with $base"
    "$base" -m venv "$VENV" || die "$base could not make $VENV."
  fi
  pip_install requirements.txt
}

configure() {
  local settings
  settings=$(fingerprint CMakePresets.json requirements.txt)
  [ -e "$BUILD/build.ninja" ] && [ "$(cat "$BUILD/.configured" 2>/dev/null)" = "$settings $PYTHON" ] && return 0
  say "cmake --preset $PRESET"
  mkdir -p "$BUILD"
  cmake --preset "$PRESET" -B "$BUILD" -DPython_EXECUTABLE="$PYTHON" -DXCUDA_DATA_DIR="$VENV" \
    >"$BUILD/configure.log" 2>&1 </dev/null || { tail -n 40 "$BUILD/configure.log" >&2; die "cmake failed; the log is $BUILD/configure.log."; }
  echo "$settings $PYTHON" >"$BUILD/.configured"
}

# Copies what changed into .venv, and removes what the last install left there and this one has no more.
install_package() {
  local manifest=$BUILD/install_manifest.txt before site
  site=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
  before=$(sort "$manifest" 2>/dev/null || true)
  cmake --install "$BUILD" --prefix "$site" >"$BUILD/install.log" 2>&1 || { tail -n 20 "$BUILD/install.log" >&2; die "The install failed."; }
  comm -23 <(echo "$before") <(sort "$manifest") | { grep -E "^($site/xcuda|$VENV/share/jupyter)/" || true; } |
    while IFS= read -r gone; do rm -f "$gone"; done
}

# counted LOG: keeps what ninja says; where somebody looks on, shows how far it has come.
counted() {
  if [ ! -t 2 ]; then
    cat >"$1"
    return
  fi
  tee "$1" | sed -un 's/^\[\([0-9]*\/[0-9]*\)\].*/\1/p' | while read -r done; do printf '\r  %s ' "$done" >&2; done
  printf '\r' >&2
}

# Everything up to an importable xcuda and a registered kernel in .venv. Quick when nothing changed.
build_all() {
  prepare_system
  prepare_venv
  configure
  say "Building in $BUILD (its build.log has the details)"
  cmake --build "$BUILD" -j "$JOBS" </dev/null 2>&1 | counted "$BUILD/build.log" || {
    grep -E -A12 'error:|^FAILED|^CMake Error' "$BUILD/build.log" | head -n 60 >&2
    die "The build failed; the log is $BUILD/build.log."
  }
  install_package
}

# timed NAME COMMAND...: runs it, says how long it took, keeps its exit status.
timed() {
  local name=$1 begin=$SECONDS status=0
  shift
  "$@" || status=$?
  TIMINGS+=("$(printf '%-12s %4d s' "$name" $((SECONDS - begin)))")
  return $status
}

