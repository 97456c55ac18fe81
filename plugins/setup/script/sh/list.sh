# Lists the tools, and which of them are on this machine or set up (--list).

list() {
  locate_home
  say "Tools that can be set up for $service:"
  say ''
  list_tools >"$work/tools"
  find_former_tools
  while IFS=$TAB read -r tool_id tool_name tool_format is_on_request tool_commands tool_folders tool_start <&3; do
    list_state=''
    if is_installed; then add_state 'found'; fi
    if is_moving "$tool_id"; then
      add_state 'interrupted, run the setup again'
    else
      if is_set_up "$tool_id"; then add_state "set up${saved_model:+ with $saved_model}"; fi
      if is_former "$tool_id"; then add_state 'set up under a former name'; fi
    fi
    if [ "$is_on_request" = yes ]; then add_state "only with --tools $tool_id"; fi
    if [ -n "$list_state" ]; then
      printf '  %-14s %-22s %s\n' "$tool_id" "$tool_name" "$list_state"
    else
      printf '  %-14s %s\n' "$tool_id" "$tool_name"
    fi
  done 3<"$work/tools"
}

add_state() {
  list_state=$list_state${list_state:+, }$1
}
