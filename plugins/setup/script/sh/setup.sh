# Sets tools up: computes all changes, shows them, asks, and only then writes.

has_failed='' has_changes='' is_shown='' notes=''

set_up() {
  locate_home
  check_wanted_model
  select_tools
  [ "$selected" != ' ' ] || fail "No tool was found on this machine. Name one: --tools $(list_tools | cut -f 1 | sed 1q)."
  prepare_key
  finish_interrupted_run
  read_stamp
  plan_tools
  if [ "$is_dry_run" = yes ]; then
    take_over
    ! has_former_tools || say "${NL}Then:"
    show_plan
    return
  fi
  confirm_plan
  create_records
  take_lock
  check_stamp
  take_over
  commit_tools
  remove_records
  print_result
}

# Without writing anything, a key is not needed: the one of the last run shows what would change, or else a placeholder.
prepare_key() {
  read_variable
  if [ "$is_dry_run" = yes ] && [ -z "$key$key_file" ]; then
    find_stored_key || key=YOUR_KEY
    return
  fi
  [ -n "$is_dry_run$has_consent" ] || require_terminal
  read_key
  check_key || exit 1
  check_model_of_key
}

# The model of --model may be missing from the models of this key.
check_model_of_key() {
  [ -n "$wanted_model" ] || return 0
  request GET /v1/models "$work/models"
  [ "$http_status" = 200 ] || return 0
  grep -q -F "\"$wanted_model\"" "$work/models" ||
    fail "Your key cannot use the model \"$wanted_model\". Nothing was changed; choose another one with --model."
}

finish_interrupted_run() {
  if [ "$is_dry_run" != yes ] && has_interrupted_run; then
    take_lock
    recover_records
    release_lock
  fi
}

# Plans the files of all selected tools, and those of the shell. $ready are the tools that can be set up.
plan_tools() {
  ready=' '
  start_environment=$NL$(read_or_empty "$state/env")$NL
  for tool_id in $selected; do
    find_tool "$tool_id"
    if choose_models; then
      collect
      summarize_tool
      case $verdict in
        failed | skipped) rm -f "$work/variables.$tool_id" ;;
        *) ready="$ready$tool_id " notes=$notes$tool_notes ;;
      esac
    else
      refuse_file '' skipped 'no model of this gateway suits it'
    fi
  done
  tools_end=$plan_count
  plan_shell "$ready"
}

show_plan() {
  say ''
  print_verdicts change
  n=0
  while [ "$n" -lt "$plan_count" ]; do
    n=$((n + 1))
    get verdict
    case $verdict in
      written) show_difference ;;
      manual) show_settings ;;
    esac
  done
  if [ "$has_variables" = yes ] && ! cmp -s "$work/env" "$work/env.before"; then
    show_path "$state/env"
    show_files "$work/env.before" "$work/env" "$shown"
  fi
  say "${NL}Nothing was changed, because this was a dry run."
}

confirm_plan() {
  [ "$has_consent" != yes ] || return 0
  say "${NL}Settings for $service ($base_url):$NL"
  print_verdicts change
  has_failed=''
  if has_former_tools; then
    say "${NL}What was set up under a former name of $service is taken out first."
    has_changes=yes
  fi
  if [ "$has_changes" != yes ]; then
    is_shown=yes
    return
  fi
  show_path "$records/backups"
  say "${NL}Files that exist are copied to $shown first."
  ask_yes 'Write these settings?' || decline
}

# Writes what was planned, tool by tool; a tool whose files cannot all be written is not counted as set up.
commit_tools() {
  done_tools=' '
  for tool_id in $ready; do
    if commit_tool; then
      done_tools="$done_tools$tool_id "
      remember_tool
    fi
  done
  plan_count=$tools_end
  plan_shell "$done_tools"
  if [ "$has_variables" = yes ] || [ -s "$work/owners.before" ]; then
    commit_environment && commit_shell
  fi
}

commit_tool() {
  n=0
  while [ "$n" -lt "$tools_end" ]; do
    n=$((n + 1))
    get tool
    [ "$tool" != "$tool_id" ] || commit_file || return 1
  done
}

remember_tool() {
  if [ -n "$wanted_model" ]; then
    saved_model=$wanted_model
  else
    find_saved_model "$tool_id"
  fi
  if [ -n "$saved_model" ] && ! find_model "$saved_model"; then saved_model=''; fi
  save_tool "$tool_id" "$saved_model" && remove_row "$records/moving" "$tool_id"
}

# Verdicts, what a person must paste, and what to do next.
print_result() {
  say ''
  if [ "$is_shown" = yes ]; then
    print_verdicts written >"$work/result"
    if [ "$has_failed" = yes ]; then cat "$work/result"; else say 'Nothing to change.'; fi
    return
  fi
  print_verdicts written
  if [ -n "$backup" ]; then
    show_path "$backup"
    say "${NL}Copies of the files from before: $shown"
  fi
  n=0
  while [ "$n" -lt "$tools_end" ]; do
    n=$((n + 1))
    get verdict
    [ "$verdict" != manual ] || show_settings
  done
  if [ "$has_changes" = yes ] && [ "$done_tools" != ' ' ]; then
    [ -z "$notes" ] || printf '\n%s' "$notes"
    print_next_steps
  fi
}

print_next_steps() {
  say "${NL}Next:"
  if [ "$has_variables" = yes ]; then
    quote_path "$state/env"
    case ${SHELL-} in
      */fish) say '  open a new terminal' ;;
      *) say "  . $quoted    (or open a new terminal)" ;;
    esac
  fi
  for tool_id in $done_tools; do
    find_tool "$tool_id"
    [ "$tool_start" = - ] || say "  $tool_start"
  done
  show_command_line --verify
  say "${NL}To test each tool: $command_line"
  show_command_line --undo
  say "To take the settings out again: $command_line"
}
