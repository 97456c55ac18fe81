# Replaces a file of the user by the planned one in one step, or not at all.

backup=''

# Writes the planned file $n when its verdict is written. False when it failed: the reason is put.
commit_file() {
  plan=$work/plan/$n commit_count=0
  while get verdict && [ "$verdict" = written ]; do
    if replace_planned; then return 0; fi
    commit_count=$((commit_count + 1))
    if [ "$reason" != 'it was changed meanwhile' ] || [ "$commit_count" -ge 3 ]; then
      put verdict failed
      put reason "$reason"
      return 1
    fi
    # The tool has written its file since it was read.
    rm -f "$plan/current" "$plan/previous" "$plan/before" "$plan/after"
    compute_file
  done
  case $verdict in
    unchanged) is_recorded || { write_stamp && stage_record && settle_record; } ;;
    *) [ "$verdict" = manual ] ;;
  esac
}

replace_planned() {
  get real
  get mode
  write_stamp
  make_folders "${real%/*}" || return 1
  stage_record || return 1
  if back_up && replace_file "$real" "$plan/after" "$mode" "$plan/current"; then
    settle_record
    return
  fi
  rm -rf "$staged"
  return 1
}

# Copies the file as it was read.
back_up() {
  [ -f "$plan/current" ] || return 0
  choose_backup
  reason=$(mkdir -p "$backup${real%/*}" 2>&1 && cp "$plan/current" "$backup$real" 2>&1) && return 0
  reason="it cannot be backed up: $(last_words "$reason")"
  return 1
}

# Sets $backup to the folder of this run's backups.
choose_backup() {
  [ -z "$backup" ] || return 0
  backup=$records/backups/$run_time backup_number=1
  while [ -e "$backup" ]; do
    backup_number=$((backup_number + 1))
    backup=$records/backups/$run_time-$backup_number
  done
}

# Replaces the file $1 by a copy of $2 with the permissions $3 (- for those that it has, or those of a new file), unless
# it differs from $4 now; without $4, unless it exists. The new file is written beside it and then renamed.
replace_file() {
  pending=${1%/*}/$temporary_name.$$
  reason=$(write_pending "$1" "$2" "$3" "$4" 2>&1) || {
    reason=$(last_words "$reason")
    drop_pending
    return 1
  }
  if ! is_same_file "$1" "$4"; then
    reason='it was changed meanwhile'
    drop_pending
    return 1
  fi
  reason=$(mv -f "$pending" "$1" 2>&1) || {
    reason=$(last_words "$reason")
    drop_pending
    return 1
  }
  pending=''
}

# A copy has the owner and the permissions of the file.
write_pending() {
  if [ -e "$pending" ] || [ -L "$pending" ]; then rm -f "$pending" || return 1; fi
  if [ -f "$4" ]; then
    cp -p "$1" "$pending" || return 1
  else
    (
      [ "$3" != - ] || umask "$user_umask"
      set -C
      : >"$pending"
    ) || return 1
  fi
  if [ "$3" != - ]; then chmod "$3" "$pending" || return 1; fi
  cat "$2" >"$pending" && cmp "$2" "$pending"
}

drop_pending() {
  rm -f "$pending"
  pending=''
}

# True when the file $1 is as it was read into $2; without $2, when it does not exist.
is_same_file() {
  if [ -f "$2" ]; then
    [ -f "$1" ] && cmp -s "$1" "$2"
  else
    [ ! -e "$1" ] && [ ! -L "$1" ]
  fi
}
