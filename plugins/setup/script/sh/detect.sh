# Which tools of list_tools are on this machine, and which of them are to be set up.

tool_rows=''

# Sets $tool_id, $tool_name, $tool_format, $is_on_request, $tool_commands, $tool_folders and $tool_start of the tool $1.
find_tool() {
  # Not ${tool_rows:-...}: zsh would split it into words.
  [ -n "$tool_rows" ] || tool_rows=$(list_tools)
  while IFS=$TAB read -r tool_id tool_name tool_format is_on_request tool_commands tool_folders tool_start; do
    if [ "$tool_id" = "$1" ]; then return 0; fi
  done <<END
$tool_rows
END
  tool_id=$1
  return 1
}

# True when the tool of find_tool is on this machine: a program of it on the PATH, or its folder.
is_installed() {
  for installed_command in $tool_commands; do
    if has "$installed_command"; then return 0; fi
  done
  for installed_folder in $tool_folders; do
    expand_one "$installed_folder" || continue
    if [ -d "$expanded" ]; then return 0; fi
  done
  return 1
}

# Sets $selected to the ids between spaces, in the order of list_tools: those of --tools, else the tools of this machine
# and those set up before.
select_tools() {
  list_tools >"$work/tools"
  find_former_tools
  selected=' '
  while IFS=$TAB read -r tool_id tool_name tool_format is_on_request tool_commands tool_folders tool_start <&3; do
    if is_selected; then selected="$selected$tool_id "; fi
  done 3<"$work/tools"
}

is_selected() {
  if [ -n "$wanted_tools" ]; then
    case $wanted_tools in
      *" $tool_id "*) return 0 ;;
      *) return 1 ;;
    esac
  fi
  if is_set_up "$tool_id" || is_former "$tool_id" || is_moving "$tool_id"; then return 0; fi
  [ "$is_on_request" != yes ] && is_installed
}
