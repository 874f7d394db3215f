#!/usr/bin/env bash
# install-missing.sh COMMAND...: installs commands that are missing.
#
# As root with apt-get it installs the packages and prints their names. Otherwise, or with PURLIN_NO_INSTALL=1, it
# prints the command to run. The status is 0 in both cases, and the caller continues without the missing commands.
# Knows: c++, cc, chromium, ei (Erlang's library for C), elixir, erlc, etop (a module of Erlang's), go, javac (21 or later),
# jinterface (Erlang's library for Java, with a JDK), mvn, node, npm, postgres, shellcheck, strace.
set -euo pipefail

present() {
  local name
  case $1 in
    ei)
      echo 'int main(void) { return 0; }' | cc -x c -include ei.h - -lei -o /dev/null >/dev/null 2>&1
      return
      ;;
    jinterface)
      if [ ! -f "${PURLIN_JINTERFACE:-/usr/share/java/OtpErlang.jar}" ]; then return 1; fi
      set -- javac
      ;;
    etop)
      erl -noshell -eval 'halt(case code:which(etop) of non_existing -> 1; _ -> 0 end).' >/dev/null 2>&1
      return
      ;;
    chromium)
      if [ -f "${PURLIN_CHROMIUM:-}" ]; then return 0; fi
      set -- chromium chromium-headless-shell chromium-browser google-chrome google-chrome-stable
      ;;
    javac)
      # WHY not only the first: the lab also finds a JDK in the same folder as the one on the PATH.
      local home
      home=$(dirname "$(dirname "$(readlink -f "$(command -v javac || echo /)")")")
      if grep -Eqs '^JAVA_VERSION="(2[1-9]|[3-9][0-9])' "${JAVA_HOME:-/nonexistent}/release" "$home"/../*/release; then return 0; fi
      return 1
      ;;
    postgres)
      # WHY: Debian has a folder for each version, and puts none on the PATH.
      set -- postgres "$(pg_config --bindir 2>/dev/null)/postgres" /usr/lib/postgresql/*/bin/postgres
      ;;
  esac
  for name in "$@"; do
    if command -v "$name" >/dev/null 2>&1; then return 0; fi
  done
  return 1
}

# The packages that contain a command, by package manager.
packages_for() {
  case $1:$2 in
    apt-get:c++) echo g++ ;;
    apt-get:cc) echo gcc libc6-dev ;;
    # WHY not chromium: the tests with a browser take half the time in this one.
    apt-get:chromium) echo chromium-headless-shell ;;
    apt-get:ei) echo erlang-dev gcc libc6-dev ;;
    apt-get:erlc) echo erlang-base ;;
    apt-get:etop | dnf:etop) echo erlang-observer ;;
    apt-get:go) echo golang-go ;;
    apt-get:javac) echo openjdk-21-jdk-headless ;;
    apt-get:jinterface) echo erlang-jinterface default-jdk-headless ;;
    apt-get:node) echo nodejs ;;
    apt-get:postgres | brew:postgres | pacman:postgres) echo postgresql ;;
    dnf:c++) echo gcc-c++ ;;
    brew:c++ | brew:cc | dnf:cc | pacman:c++ | pacman:cc) echo gcc ;;
    brew:ei | brew:erlc | brew:etop | brew:jinterface) echo erlang ;;
    dnf:erlc | pacman:ei | pacman:erlc | pacman:etop | pacman:jinterface) echo erlang ;;
    brew:javac) echo openjdk ;;
    brew:node | brew:npm) echo node ;;
    dnf:ei) echo erlang-erl_interface ;;
    dnf:go) echo golang ;;
    dnf:javac) echo java-latest-openjdk-devel ;;
    dnf:jinterface) echo erlang-jinterface java-latest-openjdk-devel ;;
    dnf:postgres) echo postgresql-server ;;
    dnf:shellcheck) echo ShellCheck ;;
    dnf:node | pacman:node) echo nodejs ;;
    pacman:javac) echo jdk-openjdk ;;
    *:mvn) echo maven ;;
    *) echo "$2" ;;
  esac
}

missing=()
for command in "$@"; do
  case $command in
    c++ | cc | chromium | ei | elixir | erlc | etop | go | javac | jinterface | mvn | node | npm | postgres | shellcheck | strace) ;;
    *)
      echo "install-missing: unknown command '$command'; known are c++, cc, chromium, ei, elixir, erlc, etop, go, javac, jinterface, mvn, node, npm, postgres, shellcheck, strace" >&2
      exit 2
      ;;
  esac
  present "$command" || missing+=("$command")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "here already: $*"
  exit 0
fi

manager=none
for candidate in apt-get brew dnf pacman; do
  if command -v "$candidate" >/dev/null 2>&1; then
    manager=$candidate
    break
  fi
done

wanted=()
for command in "${missing[@]}"; do
  read -ra found <<<"$(packages_for "$manager" "$command")"
  wanted+=("${found[@]}")
done

case $manager in
  apt-get) remedy="sudo apt-get update && sudo apt-get install -y --no-install-recommends ${wanted[*]}" ;;
  brew) remedy="brew install ${wanted[*]}" ;;
  dnf) remedy="sudo dnf install ${wanted[*]}" ;;
  pacman) remedy="sudo pacman -S ${wanted[*]}" ;;
  none) remedy="your system's package manager, for: ${missing[*]}" ;;
esac

if [ "${PURLIN_NO_INSTALL:-}" = 1 ]; then
  echo "missing: ${missing[*]}; PURLIN_NO_INSTALL=1 forbids installing. This would: $remedy"
  echo "going on with what is there"
elif [ "$manager" != apt-get ] || [ "$(id -u)" != 0 ]; then
  echo "missing: ${missing[*]}; this would install what is needed: $remedy"
  echo "going on with what is there"
else
  echo "missing: ${missing[*]}; installing ${wanted[*]} with apt-get (PURLIN_NO_INSTALL=1 forbids it)"
  export DEBIAN_FRONTEND=noninteractive
  # WHY: two runs side by side would otherwise fail on the package manager's lock.
  options=(-qq -o DPkg::Lock::Timeout=300)
  install() {
    apt-get "${options[@]}" install -y --no-install-recommends "$@" </dev/null >/dev/null
  }
  if apt-get "${options[@]}" update </dev/null >/dev/null && install "${wanted[@]}"; then
    echo "installed: ${wanted[*]}"
  else
    # WHY: apt-get installs nothing if it does not know one of the packages.
    for package in "${wanted[@]}"; do
      install "$package" 2>/dev/null || true
    done
    echo "apt-get failed (its words are above); by hand: $remedy" >&2
    echo "going on with what is there"
  fi
fi
