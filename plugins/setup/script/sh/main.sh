# The entry: the last command of the script calls main.

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

# --verify: one line for each tool that is set up.
verify() {
  locate_home
  select_tools
  verified=''
  for tool_id in $selected; do
    find_tool "$tool_id"
    explain_former
    if [ -n "$unsettled" ]; then
      has_failed=yes
      print_verdict "$tool_name" outdated "$unsettled"
      continue
    fi
    is_set_up "$tool_id" || continue
    [ -n "$verified" ] || read_key
    verified=yes
    choose_models || continue
    format=$tool_format
    verify_tool "$tool_id" || has_failed=yes
  done
  [ -n "$verified$has_failed" ] || fail 'No tool is set up on this machine. Run this without --verify first.'
}

# Sets $unsettled to what keeps the tool $tool_id from having its settings under the present name, or to ''.
explain_former() {
  unsettled=''
  if is_moving "$tool_id"; then
    unsettled='the last run was interrupted. Run the setup again to complete it'
  elif is_former "$tool_id" && ! is_set_up "$tool_id"; then
    unsettled="it is set up under a former name of $service. Run the setup again to update it"
  fi
}
