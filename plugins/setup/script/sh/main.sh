# What each option runs. The last command of the script calls main.

main() {
  require_shell
  start_base
  read_options "$@"
  require_programs
  run_time=$(date -u +%Y-%m-%dT%H-%M-%SZ)
  case $action in
    help) print_help ;;
    list) list ;;
    undo) undo ;;
    verify) verify ;;
    *) set_up ;;
  esac
  [ "$has_failed" != yes ] || exit 1
  exit 0
}

# posh and old versions of mksh would take a key for white space.
require_shell() {
  case $TAB in
    [[:space:]]) ;;
    *) fail 'This shell does not know patterns such as [[:space:]]. Run the script with sh, dash or bash.' ;;
  esac
}

# Small systems lack some of these programs; a script that ends half-way is worse than one that does not begin.
require_programs() {
  for required in awk cat chmod cmp cp cut date grep head id ls mkdir mv printf readlink rm rmdir sed tail tr uname wc; do
    has "$required" || fail "The program \"$required\" was not found. Install it, and run this again."
  done
}
