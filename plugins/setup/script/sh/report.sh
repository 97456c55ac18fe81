# Prints one line with a verdict per tool.

# $1: name; $2: verdict; $3: details
print_verdict() {
  case $2 in
    failed) verdict_colour=$red ;;
    skipped | outdated | manual | gone | cleaned) verdict_colour=$yellow ;;
    written | change | restored | removed | works) verdict_colour=$green ;;
    *) verdict_colour=$dim ;;
  esac
  # Without spaces at the end of the line.
  if [ -n "$3" ]; then
    printf '  %-21s  %s%-9s%s  %s\n' "$1" "$verdict_colour" "$2" "$plain" "${3%"${3##*[! ]}"}"
  elif [ -n "$2" ]; then
    printf '  %-21s  %s%s%s\n' "$1" "$verdict_colour" "$2" "$plain"
  else
    printf '  %s\n' "$1"
  fi
}

# Sets $verdict of the tool $tool_id, the most serious one of its files and variables, and $details.
summarize_tool() {
  summary=unchanged summary_rank=0 details='' n=0
  while [ "$n" -lt "$plan_count" ]; do
    n=$((n + 1))
    get tool
    if [ "$tool" = "$tool_id" ]; then
      get verdict
      get shown
      get reason
      add_to_summary "$verdict" "$reason"
    fi
  done
  if [ -z "$details" ] && ! has_same_variables; then
    show_path "$state/env"
    add_to_summary written ''
  fi
  verdict=$summary
}

# $1: verdict for the file $shown; $2: reason
add_to_summary() {
  case $1 in
    failed) verdict_rank=4 ;;
    skipped) verdict_rank=3 ;;
    manual) verdict_rank=2 ;;
    written) verdict_rank=1 ;;
    *) return 0 ;;
  esac
  if [ "$verdict_rank" -gt "$summary_rank" ]; then
    summary=$1 summary_rank=$verdict_rank
    # What is written does not matter beside what is not.
    [ "$verdict_rank" -lt 3 ] || details=''
  fi
  if [ "$verdict_rank" -lt 3 ] && [ "$summary_rank" -ge 3 ]; then return; fi
  detail=$shown${shown:+${2:+: }}$2
  case ", $details, " in
    *", $detail, "*) ;;
    *) details="$details${details:+, }$detail" ;;
  esac
}

# Prints a line per selected tool, and one for the profile when it matters; $1 is the word for what is written.
# Sets $has_changes and $has_failed.
print_verdicts() {
  has_changes=''
  for tool_id in $selected shell; do
    name_tool
    summarize_tool
    case $verdict in
      written | manual) has_changes=yes ;;
      failed) has_failed=yes ;;
    esac
    [ "$tool_id/$verdict" != shell/unchanged ] || continue
    [ "$verdict" != written ] || verdict=$1
    print_verdict "$tool_name" "$verdict" "$details"
  done
}

# Sets $tool_name of the tool $tool_id, which need not be in this script any more.
name_tool() {
  find_tool "$tool_id" && return
  tool_name=$tool_id
  [ "$tool_id" != shell ] || tool_name='Shell profile'
}
