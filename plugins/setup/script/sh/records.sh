# Records of files, in $records/files.

# Reads the record $1: $record_real, $record_format, $record_identity, $record_mode and $record_new_mode. False when it is
# incomplete.
read_record_of() {
  record_real='' record_format='' record_identity='' record_mode='' record_new_mode=''
  for record_part in path format identity mode wanted after; do
    [ -r "$1/$record_part" ] || return 1
  done
  IFS= read -r record_real <"$1/path"
  IFS= read -r record_format <"$1/format"
  IFS= read -r record_identity <"$1/identity"
  IFS=' ' read -r record_mode record_new_mode <"$1/mode"
  decode_line "$record_real"
  record_real=$decoded
  [ -n "$record_real" ] && { [ "$record_mode" = - ] || [ -f "$1/before" ]; }
}

# False when another gateway has been set up in the file of the record $1 since: $reason names it. To edit the file below its
# settings would mix both, up to the address of one with the key of somebody else. Blocks do not mix.
is_uncovered() {
  for covering in "${state%/*}"/*/setup/files/*; do
    case $covering in "$records"/*) continue ;; esac
    [ "$record_format" != block ] && cmp -s "$covering/path" "$1/path" || continue
    # The newer one comes first.
    case $(ls -t "$covering/after" "$1/after" 2>/dev/null) in
      "$covering/after"*) ;;
      *) continue ;;
    esac
    covering=${covering%/setup/files/*}
    make_printable "${covering##*/}"
    reason="\"$printable\" was set up in it later; take that out first"
    return 1
  done
}

# Writes the record of the planned file $n beside the one that it replaces: $staged. It is staged before the file is
# replaced, so that a run that ends in between can be completed.
stage_record() {
  get record
  [ -n "$record" ] || choose_record
  staged=$record.new
  reason=$(write_record 2>&1) && return 0
  rm -rf "$staged"
  reason="$(last_words "$reason") (in the folder $records)"
  return 1
}

choose_record() {
  get tool
  record_number=1
  while [ -e "$records/files/$tool.$record_number" ] || [ -e "$records/files/$tool.$record_number.new" ]; do
    record_number=$((record_number + 1))
  done
  record=$records/files/$tool.$record_number
}

write_record() {
  get format
  get identity
  get old_mode
  get mode
  # The permissions before the first change, as long as the file is there.
  if [ -f "$plan/current" ] && [ -f "$record/mode" ]; then IFS=' ' read -r old_mode record_new_mode <"$record/mode"; fi
  get real
  encode_line "$real"
  get source
  mkdir "$staged" &&
    printf '%s\n' "$encoded" >"$staged/path" &&
    printf '%s\n' "$source" >"$staged/source" &&
    printf '%s\n' "$format" >"$staged/format" &&
    printf '%s\n' "$identity" >"$staged/identity" &&
    printf '%s\n' "$old_mode $mode" >"$staged/mode" &&
    if [ -f "$plan/before" ]; then
      cp "$plan/wanted" "$plan/after" "$plan/before" "$staged/"
    else
      cp "$plan/wanted" "$plan/after" "$staged/"
    fi
}

settle_record() {
  [ ! -e "$record" ] || rm -rf "$record"
  mv "$staged" "$record"
}

# True when the record is as the planned file $n would write it.
is_recorded() {
  get record
  get is_kept
  if [ "$is_kept" = yes ]; then return 0; fi
  [ -n "$record" ] || return 1
  cmp -s "$plan/wanted" "$record/wanted" || return 1
  cmp -s "$plan/after" "$record/after" || return 1
  if [ -f "$plan/before" ]; then
    cmp -s "$plan/before" "$record/before"
  else
    [ ! -f "$record/before" ]
  fi
}

# True when an interrupted run has left something, or another run is at work.
has_interrupted_run() {
  if [ -d "$records/lock" ]; then return 0; fi
  for staged in "$records/files"/*.new; do
    [ -d "$staged" ] && return 0
  done
  return 1
}

# Completes what an interrupted run has left: temporary files, and records whose file may have been replaced.
recover_records() {
  remove_temporary_files "$state"
  for record in "$records/files"/*; do
    if [ -d "$record" ] && read_record_of "$record"; then remove_temporary_files "${record_real%/*}"; fi
  done
  for staged in "$records/files"/*.new; do
    [ ! -d "$staged" ] || recover_record
  done
}

# Those of runs that were killed, in the folder $1.
remove_temporary_files() {
  for temporary_file in "$1/$temporary_name".*; do
    if [ -f "$temporary_file" ] && [ ! -L "$temporary_file" ] && ends_with_id "$temporary_file"; then
      rm -f "$temporary_file"
    fi
  done
}

# A run that ended between replacing the file and settling its record leaves both records, the old one perhaps incomplete, or
# the new one alone.
recover_record() {
  record=${staged%.new}
  if read_record_of "$staged" && { ! read_record_of "$record" || ! cmp -s "$record_real" "$record/after"; }; then
    settle_record
  else
    rm -rf "$staged"
  fi
}
