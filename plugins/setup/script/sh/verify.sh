# Checks whether the settings of a tool are still there, and whether the gateway answers as the tool needs it (--verify).

# One line for each tool that is set up.
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

# Prints the verdict for the tool of find_tool, whose models have been chosen. False when the tool would not work.
verify_tool() {
  find_changed_settings "$1"
  if [ -n "$changed_settings" ]; then
    print_verdict "$tool_name" failed "settings changed: $changed_settings. Run the setup again to restore them"
    return 1
  fi
  unwritten=$(list_unwritten_paths "$1")
  if [ -n "$unwritten" ]; then
    print_verdict "$tool_name" manual "$unwritten: paste the settings there, or run the setup again where node or python3 is installed"
    return 1
  fi
  if is_outdated "$1"; then
    print_verdict "$tool_name" outdated "its settings are not those that $base_url gives now. Run the setup again to update them"
    return 1
  fi
  if ask_model "$tool_format" "$model"; then
    print_verdict "$tool_name" works "$model, $asked_seconds s"
  else
    print_verdict "$tool_name" failed "$asked_problem"
    return 1
  fi
}

# Prints the files of the tool $1 that are not on record and do not name this gateway, separated by commas: a person was to paste
# the settings there.
list_unwritten_paths() {
  tool=$1 places='' unwritten=''
  file() {
    choose_path "$2" "$3"
    case $6 in
      *"$base_url"*) ;;
      *) return ;;
    esac
    if is_on_record "$2" || names_gateway; then return; fi
    show_path "$expanded"
    unwritten=$unwritten${unwritten:+, }$shown
  }
  variable() { :; }
  note() { :; }
  configure "$1"
  say "$unwritten"
}

# True when the file at $chosen_path of the tool $tool is on record, there or where it was written as $1 in an earlier run.
is_on_record() {
  expand_path "$chosen_path" && resolve_path "$expanded" || return 0
  if find_record; then return 0; fi
  for record in "$records/files/$tool".*; do
    [ -r "$record/source" ] && IFS= read -r record_source <"$record/source" && [ "$record_source" = "$1" ] && return
  done
  return 1
}

# True when a run would write other settings for the tool $1 than those on record: the catalog, the address or the key is another
# one. With --model or --key-file, the request answers a question about these.
is_outdated() {
  [ -z "$wanted_model$key_file" ] || return 1
  rm -rf "$work/now"
  mkdir "$work/now"
  places='' now_count=0
  (
    file() {
      now_count=$((now_count + 1))
      fill_placeholders "$6"
      write_line "$filled" >"$work/now/$now_count"
    }
    note() { :; }
    variable() {
      fill_placeholders "$2"
      quote "$filled"
      write_line "export $1=$quoted" >>"$work/now/variables"
    }
    configure "$1"
  )
  for record in "$records/files/$1".*; do
    case $record in *.new) continue ;; esac
    [ ! -r "$record/wanted" ] || is_wanted_now || return 0
  done
  has_other_variables
}

# True when a file of the tool would get the settings of $record.
is_wanted_now() {
  for now_path in "$work/now"/[0-9]*; do
    if cmp -s "$now_path" "$record/wanted"; then return 0; fi
  done
  return 1
}

has_other_variables() {
  [ -r "$work/now/variables" ] || return 1
  now_environment=$NL$(cat "$state/env" 2>/dev/null)$NL
  ! has_lines "$work/now/variables" "$now_environment"
}

# Sets $changed_settings to the names of the settings of the tool $1 that are not as they were written, separated by commas.
find_changed_settings() {
  changed_settings=''
  for record in "$records/files/$1".*; do
    case $record in *.new) continue ;; esac
    if read_record_of "$record"; then add_changed_settings; fi
  done
  add_changed_variables "$1"
}

# Those of one record. The file is as it was written, or the settings in it are compared.
add_changed_settings() {
  show_path "$record_real"
  if [ ! -r "$record_real" ]; then
    add_change "$shown is gone"
  elif ! cmp -s "$record_real" "$record/after"; then
    case $record_format in
      text) add_change "$shown" ;;
      block) has_block || add_change "the block in $shown" ;;
      *) add_missing_settings ;;
    esac
  fi
}

add_change() {
  changed_settings=$changed_settings${changed_settings:+, }$1
}

has_block() {
  find_block "$record_real" && [ "$block_start" != 0 ] || return 1
  sed -n "$((block_start + 1)),$((block_stop - 1))p" "$record_real" | tr -d '\r' | cmp -s - "$record/wanted"
}

# Without node and python3 nobody can tell: the request decides.
add_missing_settings() {
  find_helper || return 0
  rm -rf "$work/check"
  mkdir "$work/check"
  cp "$record/wanted" "$work/check/wanted"
  cp "$record_real" "$work/check/current"
  if missing_settings=$(run_helper check "$record_format" "$work/check" "$record_identity" - 2>"$work/error"); then
    while IFS= read -r missing_setting; do
      [ -z "$missing_setting" ] || add_change "$missing_setting"
    done <<EOF
$missing_settings
EOF
  else
    add_change "$shown cannot be read ($(sed -n 1p "$work/error"))"
  fi
}

# Variables that the tool $1 needs and that are no longer in $state/env, or that the profile does not read.
add_changed_variables() {
  [ -r "$records/variables" ] || return 0
  while IFS=$TAB read -r variable_owner variable_name; do
    [ "$variable_owner" = "$1" ] || continue
    grep -q "^export $variable_name=." "$state/env" 2>/dev/null || add_change "\$$variable_name"
  done <"$records/variables"
}
