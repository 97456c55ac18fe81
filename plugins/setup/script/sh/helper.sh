# The editing helper, which this script carries for node and for python3: write_helper writes its files.

helper='?'

# Sets $helper to node or python3; false when neither is here. An absent one does not become present during a run.
find_helper() {
  [ "$helper" = '?' ] || {
    [ -n "$helper" ]
    return
  }
  if can_run_node; then
    helper=node
  elif can_run_python; then
    helper=python3
  else
    helper=''
    return 1
  fi
  mkdir "$work/helper" && write_helper "$helper" "$work/helper"
}

# node >= 14
can_run_node() {
  has node || return 1
  # The version alone takes a fifth of the time of a program, here and below.
  node_version=$(NODE_OPTIONS='' node --version 2>/dev/null </dev/null) || return 1
  node_major=${node_version#v}
  node_major=${node_major%%.*}
  case $node_major in
    '' | *[!0-9]*) return 1 ;;
    *) [ "$node_major" -ge 14 ] ;;
  esac
}

# python3 >= 3.6
can_run_python() {
  has python3 || return 1
  if is_python_stub; then return 1; fi
  python_version=$(python3 -E --version 2>/dev/null </dev/null) || return 1
  case $python_version in
    'Python 3.'[0-5] | 'Python 3.'[0-5][!0-9]*) return 1 ;;
    'Python 3.'[0-9]*) return 0 ;;
    *) return 1 ;;
  esac
}

# On macOS without its developer tools, /usr/bin/python3 is a stub that opens a dialog. Links and the shims of version
# managers can lead to it.
is_python_stub() {
  is_macos || return 1
  if xcode-select -p >/dev/null 2>&1; then return 1; fi
  case $(command -v python3) in
    /usr/bin/python3 | */shims/*) return 0 ;;
  esac
  [ "$(follow_links "$(command -v python3)")" = "$(follow_links /usr/bin/python3)" ]
}

# Prints the file that the path $1 leads to. Callers run it in a subshell, so that $real keeps its value.
follow_links() {
  resolve_path "$1" && say "$real"
}

# $1: command; $2: format; $3: folder; $4: identity, or -; $5: at, or -
run_helper() {
  case $helper in
    node) NODE_OPTIONS='' node "$work/helper/edit.mjs" "$1" "$2" "$3" --identity "$4" --at "$5" </dev/null ;;
    # -S: what is installed beside the standard library is not needed, and can take longer to load than the helper runs.
    *) python3 -E -S -B "$work/helper/edit.py" "$1" "$2" "$3" --identity "$4" --at "$5" </dev/null ;;
  esac
}
