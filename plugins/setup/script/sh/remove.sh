# Removes what is left at the end: backups, folders that were created, and the records themselves.

# Removes the backups once nothing is set up any more and every file came back byte for byte.
remove_backups() {
  [ -d "$records/backups" ] || return 0
  if has_set_up_tools || [ -e "$records/inexact" ]; then
    show_path "$records/backups"
    kept_backups=$shown
  else
    rm -rf "$records/backups"
  fi
}

# True while something is on record.
has_set_up_tools() {
  [ ! -s "$records/tools" ] && [ ! -s "$records/variables" ] && [ ! -s "$records/moving" ] || return 0
  for set_up_path in "$records/files"/*; do
    [ -d "$set_up_path" ] && return 0
  done
  return 1
}

# Removes the folders that this script created and that are empty, and the records when nothing is set up.
remove_records() {
  created_folders=$(read_or_empty "$records/folders")
  if ! has_set_up_tools; then
    rm -f "$records/tools" "$records/variables" "$records"/*.new "$records/stamp" "$records/folders"
    release_lock
    rmdir "$records/files" 2>/dev/null
    if [ ! -d "$records/backups" ]; then
      rm -f "$records/inexact"
      rmdir "$records"
    fi 2>/dev/null
  fi
  remove_created_folders
  [ ! -d "$records" ] || printf '%s' "$remaining_folders" >"$records/folders"
}

# Removes what a run has left that ended before its first file, on a full disk for example.
remove_unused_records() {
  if [ "$is_dry_run" = yes ] || [ ! -w "$records" ]; then return; fi
  if [ ! -r "$records/moving" ] && has_set_up_tools; then return; fi
  take_lock
  forget_moving
  if has_set_up_tools; then release_lock; else remove_records; fi
}

# Those that were created last first. Sets $remaining_folders to those that still exist.
remove_created_folders() {
  remaining_folders='' folders_reversed=''
  while IFS= read -r folder_line; do
    [ -z "$folder_line" ] || folders_reversed=$folder_line$NL$folders_reversed
  done <<END
$created_folders
END
  while IFS= read -r folder_line; do
    [ -n "$folder_line" ] || continue
    decode_line "$folder_line"
    if is_empty_folder "$decoded"; then rmdir "$decoded" 2>/dev/null; fi
    [ ! -d "$decoded" ] || remaining_folders=$folder_line$NL$remaining_folders
  done <<END
$folders_reversed
END
}

# True when the folder $1 has no entry that can be seen.
is_empty_folder() {
  for folder_entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    if [ -e "$folder_entry" ] || [ -L "$folder_entry" ]; then return 1; fi
  done
}
