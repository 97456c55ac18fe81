# Takes the settings out of the files of tools, then what they needed, then the records (--undo).

# The settings under the present name come first: where both are in a file, they are the later ones.
undo() {
  locate_home
  confirm_undo
  is_undone='' orphans=''
  undo_service
  each_former undo_service
  if [ -n "$is_undone" ]; then
    [ "$is_dry_run" != yes ] || say "${NL}Nothing was changed, because this was a dry run."
    return
  fi
  undo_orphans
  each_former undo_orphans
  [ -n "$orphans" ] || say "Nothing of $service is set up on this machine."
}

# Undoes what is set up under the name that enter_service has chosen.
undo_service() {
  [ "$is_dry_run" = yes ] || remove_dead_stages
  find_undone_tools
  if [ "$undone" = ' ' ]; then
    remove_unused_records
    return
  fi
  is_undone=yes
  if [ "$is_dry_run" = yes ]; then
    show_undo
    return
  fi
  create_records
  take_lock
  recover_records
  write_stamp
  forget_moving
  say ''
  for tool_id in $undone; do
    undo_tool
  done
  undo_variables
  remove_backups
  remove_records
  [ -z "$lock" ] || release_lock
  [ -z "$kept_backups" ] || say "${NL}Copies of the files from before: $kept_backups"
}

# Sets $undone to the tools that are set up, as far as --tools names them, in the order in which they were set up.
find_undone_tools() {
  undone=' '
  for undone_id in $(list_set_up) shell; do
    case $wanted_tools in
      '' | *" $undone_id "*) ;;
      *) continue ;;
    esac
    case $undone in
      *" $undone_id "*) continue ;;
    esac
    if is_set_up "$undone_id" || has_owner "$undone_id"; then undone="$undone$undone_id "; fi
  done
}

# Prints the ids of all tools on record, with repetitions.
list_set_up() {
  read_or_empty "$records/tools" | cut -f 1
  read_or_empty "$records/variables" | cut -f 1
  for set_up_path in "$records/files"/*; do
    [ -d "$set_up_path" ] || continue
    set_up_path=${set_up_path##*/}
    printf '%s\n' "${set_up_path%%.*}"
  done
}

has_owner() {
  [ -r "$records/variables" ] && grep -q "^$1$TAB" "$records/variables"
}

# What would be done, as differences.
show_undo() {
  for tool_id in $undone; do
    name_tool
    for undo_record in "$records/files/$tool_id".*; do
      [ -d "$undo_record" ] || continue
      compute_undo "$undo_record"
      print_verdict "$tool_name" "$verdict" "$shown${reason:+: $reason}"
      case $verdict in
        restored | cleaned)
          show_files "$plan/current" "$plan/after" "$shown"
          pretend "$plan/after"
          ;;
        removed)
          show_files "$plan/current" /dev/null "$shown"
          pretend ''
          ;;
      esac
    done
  done
}

# What follows in a dry run is computed as if the file $real had the content of $1, or were gone.
pretend() {
  encode_line "$real"
  pretended=$pretended$encoded$TAB$1$NL
}

# Lists the files under all names of the service, and asks once.
confirm_undo() {
  [ -z "$is_dry_run$has_consent" ] || return 0
  announced=''
  announce_undo
  each_former announce_undo
  [ -n "$announced" ] || return 0
  say ''
  ask_yes 'Continue?' || decline
}

announce_undo() {
  find_undone_tools
  [ "$undone" != ' ' ] || return 0
  if [ -z "$announced" ]; then
    require_terminal
    say "The settings of $service will be taken out of:$NL"
    announced=yes
  fi
  for tool_id in $undone; do
    name_tool
    undo_paths=''
    for undo_record in "$records/files/$tool_id".*; do
      [ -d "$undo_record" ] || continue
      read_record_of "$undo_record" || continue
      show_path "$record_real"
      undo_paths="$undo_paths${undo_paths:+, }$shown"
    done
    print_verdict "$tool_name" '' "$undo_paths"
  done
}

# The last file first: a later one may refer to an earlier one.
undo_tool() {
  name_tool
  [ "$tool_id" != shell ] || return 0
  undo_verdict='' undo_details='' undo_order=''
  for undo_record in "$records/files/$tool_id".*; do
    [ ! -d "$undo_record" ] || undo_order="${undo_record##*.} $undo_order"
  done
  for undo_number in $undo_order; do
    undo_one_file "$records/files/$tool_id.$undo_number"
  done
  if [ -z "$undo_order" ]; then
    undo_details=$(list_pasted_paths)
    [ -z "$undo_details" ] || undo_verdict=manual undo_details="$undo_details: take out what you pasted there"
  fi
  print_verdict "$tool_name" "${undo_verdict:-removed}" "$undo_details"
  [ -n "$undo_order" ] || undo_verdict=''
  case $undo_verdict in
    failed | manual) return ;;
  esac
  remove_row "$records/tools" "$tool_id"
  forgotten="$forgotten$tool_id "
}

# Prints the files of the tool that name this gateway. Where none of them is on record, a person has pasted the settings.
list_pasted_paths() {
  find_tool "$tool_id" && choose_models || return 0
  places='' pasted_paths=''
  file() {
    choose_path "$2" "$3"
    names_gateway || return 0
    show_path "$expanded"
    pasted_paths="$pasted_paths${pasted_paths:+, }$shown"
  }
  variable() { :; }
  note() { :; }
  configure "$tool_id"
  say "$pasted_paths"
}

# Adds the verdict for the record $1 to $undo_verdict, the most serious of the tool, and to $undo_details.
undo_one_file() {
  undo_file "$1" || [ "$verdict" = manual ] || has_failed=yes
  case $verdict in
    failed | manual | gone | cleaned) note_inexact ;;
  esac
  case $undo_verdict/$verdict in
    failed/* | manual/[!f]* | */unchanged) ;;
    /* | */failed | */manual | */cleaned | */gone) undo_verdict=$verdict ;;
  esac
  [ -z "$left" ] || reason="changed since, and left alone: $(printf '%s' "$left" | tr '\n' ' ')"
  case $verdict in
    gone) reason=${reason:-it was deleted or moved meanwhile} ;;
  esac
  undo_details="$undo_details${undo_details:+, }$shown${reason:+ ($reason)}"
}

note_inexact() {
  : >"$records/inexact"
}

# Takes the variables of forgotten tools out of $state/env; the profile's block goes with the last of them.
undo_variables() {
  [ -r "$records/variables" ] || has_records shell || return 0
  plan_shell " $forgotten"
  if [ "$has_variables" = yes ]; then
    if ! commit_environment || ! commit_shell; then report_shell_failure; fi
    return
  fi
  undo_verdict='' undo_details='' tool_id=shell
  name_tool
  for undo_record in "$records/files/shell".*; do
    [ ! -d "$undo_record" ] || undo_one_file "$undo_record"
  done
  [ -z "$undo_verdict" ] || print_verdict "$tool_name" "$undo_verdict" "$undo_details"
  if remove_environment; then
    say "${NL}Terminals that are open keep the variables until you close them."
  else
    report_shell_failure
  fi
}

report_shell_failure() {
  has_failed=yes
  print_verdict 'Shell profile' failed "$reason"
}
