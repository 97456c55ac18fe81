# What a planned file shall become: $work/plan/N/after, and before, the file without our settings.
# The result is its verdict: written, unchanged, manual (a person must paste the settings), skipped or failed with a reason.

pretended=''

# Computes the planned file $n, whose folder has the wanted settings alone.
compute_file() {
  get format && get real && get is_secret && get tool
  plan=$work/plan/$n verdict='' reason='' is_kept=''
  if read_current && read_record && ! keep_file; then
    case $format in
      text) compute_text ;;
      block) compute_block ;;
      *) compute_settings ;;
    esac
  fi
  [ -n "$verdict" ] || compare_file
  put verdict "$verdict"
  put reason "$reason"
  put mode "$mode"
  put old_mode "$old_mode"
  put record "$record"
  put is_kept "$is_kept"
}

# Copies the file to current; no file, no current. $mode is what its permissions shall be, or - for those of a new file.
# False when it cannot be edited: $verdict and $reason say so.
read_current() {
  mode=- old_mode=-
  [ "$is_secret" != yes ] || mode=600
  find_content
  [ -n "$content" ] || return 0
  if [ ! -e "$real" ]; then
    refuse_dead_folder
    return
  fi
  if ! find_obstacle "$real"; then
    verdict=failed
    return 1
  fi
  old_mode=$file_mode
  [ "$is_secret" = yes ] || mode=$file_mode
  reason=$(cp "$content" "$plan/current" 2>&1) && return 0
  verdict=failed reason=${reason##*: }
  return 1
}

# Sets $content to the file that has what is in $real: that file itself, or what it would be after the changes that a dry run has
# shown; '' when it would be gone.
find_content() {
  content=$real
  [ -n "$pretended" ] || return 0
  encode_line "$real"
  while IFS=$TAB read -r pretended_path pretended_file; do
    [ "$pretended_path" != "$encoded" ] || content=$pretended_file
  done <<END
$pretended
END
}

# A link into a folder that does not exist: a file system that is not mounted, perhaps.
refuse_dead_folder() {
  show_path "$real"
  dead_target=$shown
  get shown
  if [ "$dead_target" = "$shown" ] || [ -d "${real%/*}" ]; then return 0; fi
  verdict=skipped reason="it is a link to $dead_target, whose folder does not exist"
  return 1
}

# Reads the attributes of the existing file $1. False when it cannot be replaced: $reason says why.
find_obstacle() {
  reason=''
  if [ -d "$1" ]; then
    reason='it is a folder'
  elif [ ! -f "$1" ]; then
    reason='it is not a regular file'
  elif [ ! -r "$1" ]; then
    reason='it cannot be read'
  elif [ ! -w "$1" ]; then
    reason='it is write-protected'
  elif [ ! -w "${1%/*}/" ]; then
    reason='its folder is write-protected'
  elif ! read_attributes "$1"; then
    reason='its owner cannot be determined'
  elif [ "$file_owner" != "$user_id" ] && [ "$user_id" != 0 ]; then
    reason='it belongs to another user'
  elif [ "$file_links" -gt 1 ]; then
    reason='it has more than one name (hard links)'
  fi
  [ -z "$reason" ]
}

# Copies what the last run recorded of the file: its before to before. $record is its folder, or ''.
# Sets $is_ours to yes when the file is as that run wrote it.
read_record() {
  record='' is_ours=''
  find_record || return 0
  if [ "$record_format" != "$format" ]; then
    verdict=failed reason='it was set up in another way by an earlier version; run --undo for this tool first'
    return 1
  fi
  [ ! -f "$record/before" ] || cp "$record/before" "$plan/before"
  if [ -f "$plan/current" ] && cmp -s "$plan/current" "$record/after"; then
    is_ours=yes
  elif [ -f "$plan/current" ] && ! is_uncovered "$record"; then
    verdict=failed
    return 1
  fi
}

# Finds the record of the file $real among those of the tool.
find_record() {
  for record in "$records/files/$tool".*; do
    case $record in *.new) continue ;; esac
    read_record_of "$record" || continue
    if [ "$record_real" = "$real" ]; then return 0; fi
  done
  record=''
  return 1
}

# True when the file and its settings are as the last run left them, which then holds for its record too: $is_kept.
keep_file() {
  [ "$is_ours" = yes ] && cmp -s "$plan/wanted" "$record/wanted" || return 1
  is_kept=yes
  [ "$mode" = "$old_mode" ] || cp "$plan/current" "$plan/after"
}

# The whole file is ours; what stood there comes back by --undo.
compute_text() {
  cp "$plan/wanted" "$plan/after"
  [ "$is_ours" != yes ] || return 0
  rm -f "$plan/before"
  [ ! -f "$plan/current" ] || cp "$plan/current" "$plan/before"
}

# Settings that are to be merged. The shell can tell when nothing or everything is to be replaced; the rest takes the
# editing helper.
compute_settings() {
  if [ "$is_ours" = yes ] && is_blank "$plan/before"; then
    cp "$plan/wanted" "$plan/after"
  elif is_blank "$plan/current"; then
    cp "$plan/wanted" "$plan/after"
    rm -f "$plan/before"
    [ ! -f "$plan/current" ] || cp "$plan/current" "$plan/before"
  else
    compute_by_helper
  fi
}

# True for a file that has only white space, or does not exist.
is_blank() {
  [ ! -s "$1" ] || ! grep -q '[^[:space:]]' "$1"
}

compute_by_helper() {
  if ! find_helper; then
    verdict=manual reason='neither node nor python3 is here to merge the settings'
    return
  fi
  [ -z "$record" ] || cp "$record/wanted" "$plan/previous"
  get identity
  get at
  if run_helper apply "$format" "$plan" "$identity" "$at" >"$work/output" 2>"$work/error"; then return; fi
  verdict=failed
  IFS= read -r reason <"$work/error" || reason='the settings could not be merged'
  reason=${reason%.}
}

# The verdict for a computed file.
compare_file() {
  verdict=written
  [ -f "$plan/current" ] && [ "$mode" = "$old_mode" ] || return 0
  if [ "$is_kept" = yes ] || cmp -s "$plan/current" "$plan/after"; then verdict=unchanged; fi
}
