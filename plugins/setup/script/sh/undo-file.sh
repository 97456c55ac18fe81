# Takes our settings out of one file.

# Computes what becomes of the file of the record $1 in $work/plan/N. Sets $verdict:
#   restored   it gets the bytes that it had before
#   removed    it did not exist before and goes away
#   cleaned    our settings are taken out; other changes since then stay; $left names settings that stay as well
#   gone       it was deleted or moved meanwhile
#   unchanged  it is as it was before, already
#   manual, failed   with a reason
compute_undo() {
  record=$1
  plan_count=$((plan_count + 1))
  n=$plan_count verdict='' reason='' left='' mode=- real='' shown=''
  create_plan
  if ! read_record_of "$record"; then
    verdict=failed reason="the record $record is incomplete"
  else
    find_way_back
  fi
  put verdict "$verdict"
  put reason "$reason"
  put left "$left"
  put mode "$mode"
  put record "$record"
  put real "$real"
  put shown "$shown"
  put format "$record_format"
}

find_way_back() {
  show_path "$record_real"
  if ! resolve_path "$record_real"; then
    verdict=failed
  elif [ ! -e "$real" ]; then
    verdict=gone
    [ -f "$record/before" ] || verdict=unchanged
  elif ! find_obstacle "$real"; then
    verdict=failed
  elif ! reason=$(cp "$real" "$plan/current" 2>&1); then
    verdict=failed reason=$(last_words "$reason")
  else
    choose_mode
    compare_with_record
  fi
}

# The permissions from before come back, unless somebody has changed them meanwhile.
choose_mode() {
  if [ "$file_mode" = "$record_new_mode" ]; then mode=$record_mode; fi
}

compare_with_record() {
  [ ! -f "$record/before" ] || cp "$record/before" "$plan/before"
  if cmp -s "$plan/current" "$record/after"; then
    verdict=removed
    if [ -f "$plan/before" ]; then verdict=restored && cp "$plan/before" "$plan/after"; fi
  elif [ -f "$plan/before" ] && cmp -s "$plan/current" "$plan/before"; then
    verdict=restored
    cp "$plan/before" "$plan/after"
  elif ! is_uncovered "$record"; then
    verdict=failed
  elif [ "$record_format" = text ]; then
    verdict=gone reason='its text was changed meanwhile and stays'
  else
    take_out
    judge_result
  fi
}

# Takes our settings out of a file with other changes.
take_out() {
  case $record_format in
    block) take_out_block ;;
    *) take_out_settings ;;
  esac
}

take_out_block() {
  find_block "$plan/current" || return 0
  cut_block "$plan/current"
  if [ -s "$plan/clean" ] || [ -f "$plan/before" ]; then mv "$plan/clean" "$plan/after"; fi
}

take_out_settings() {
  cp "$record/wanted" "$plan/previous"
  if ! find_helper; then
    verdict=manual reason='neither node nor python3 is here to take the settings out'
    return
  fi
  if left=$(run_helper remove "$record_format" "$plan" "$record_identity" - 2>"$work/error"); then return; fi
  left=''
  IFS= read -r reason <"$work/error" || reason='the settings could not be taken out'
  reason=${reason%.}
}

judge_result() {
  [ -z "$verdict" ] || return 0
  if [ -n "$reason" ]; then
    verdict=failed
  elif [ ! -f "$plan/after" ]; then
    verdict=removed
  elif [ -f "$plan/before" ] && cmp -s "$plan/after" "$plan/before"; then
    verdict=restored
  else
    verdict=cleaned
  fi
}

# Does what compute_undo found for the record $1, anew when the file changes meanwhile. False when it failed.
undo_file() {
  undo_count=0
  while compute_undo "$1"; do
    case $verdict in
      restored | cleaned) replace_file "$real" "$plan/after" "$mode" "$plan/current" && break ;;
      removed) remove_file && break ;;
      *) break ;;
    esac
    undo_count=$((undo_count + 1))
    if [ "$reason" != 'it was changed meanwhile' ] || [ "$undo_count" -ge 3 ]; then
      verdict=failed
      break
    fi
    plan_count=$((plan_count - 1))
  done
  put verdict "$verdict"
  put reason "$reason"
  case $verdict in
    failed | manual) return 1 ;;
  esac
  rm -rf "$record"
}

remove_file() {
  reason='it was changed meanwhile'
  is_same_file "$real" "$plan/current" || return 1
  reason=$(rm -f "$real" 2>&1) && return 0
  reason=$(last_words "$reason")
  return 1
}
