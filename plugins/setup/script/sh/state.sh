# The records of this script in $state/setup: what was set up, and how to take it back.
#   tools               lines ID, or ID TAB MODEL
#   moving              lines like those of `tools`, of tools that are being moved from a former name of the service: written
#                       before their former settings go, removed one by one as the new ones are there
#   variables           lines TOOL TAB NAME
#   folders             the folders that were created, one per line, encoded by encode_line
#   files/TOOL.N/       one file of a tool: path; source, the path in the table; format, identity; wanted, the settings; before,
#                       the file without them; after, what was written; mode, the permissions that it had and those it got,
#                       - for none
#   files/TOOL.N.new/   such a record while its file is being replaced
#   backups/TIME/...    files as they were before a run changed them
#   stamp               differs after each run that changed something
#   inexact             there when --undo could not bring back every byte, so that backups are kept
#   lock/pid            the process of the run that is changing something

new_folders='' is_stamped='' stamp=''

# Creates the folder of records, and remembers which folders above it did not exist.
create_records() {
  remove_dead_stages
  if ! create_state || ! make_folders "$records/files"; then
    show_path "$records"
    fail "The folder $shown cannot be created: $reason. Nothing was changed."
  fi
  if [ -w "$records" ] && [ -w "$records/files" ]; then return 0; fi
  show_path "$records"
  fail "The folder $shown is not writable. Nothing was changed."
}

# Creates $records and the folders above it with the record of them, beside their place, and renames the uppermost: a run that
# is killed leaves no folder that is not on record.
create_state() {
  if [ -d "$records" ]; then return 0; fi
  list_new_folders "$records"
  decode_line "${new_folders%%"$NL"*}"
  top=$decoded
  stage=${top%/*}/$temporary_name.$$
  while IFS= read -r make_line; do
    [ -n "$make_line" ] || continue
    decode_line "$make_line"
    make_folder "$decoded" "$stage${decoded#"$top"}" || return 1
  done <<END
$new_folders
END
  reason=$({ printf '%s' "$new_folders" >"$stage${records#"$top"}/folders"; } 2>&1 && mv "$stage" "$top" 2>&1) || {
    reason=$(last_words "$reason")
    return 1
  }
  # Where the folder was created meanwhile, mv has put this one into it.
  stage=$top/$temporary_name.$$
  if [ -d "$stage" ]; then
    rm -rf "$stage"
    create_state || return 1
  fi
  stage=''
}

# Removes what runs that were killed meanwhile have left.
remove_dead_stages() {
  for dead_stage in "$home/$temporary_name".* "${state%/*}/$temporary_name".* "$state/$temporary_name".*; do
    if [ -d "$dead_stage" ] && [ ! -L "$dead_stage" ] && ends_with_id "$dead_stage" && ! is_alive; then
      rm -rf "$dead_stage"
    fi
  done
}

# True when the path $1 ends with the id of a process: $lock_pid. Other names are not those of this script.
ends_with_id() {
  lock_pid=${1##*.}
  case $lock_pid in
    '' | *[!0-9]*) return 1 ;;
  esac
}

# One run at a time: ends the script while another one is changing something.
take_lock() {
  if ! mkdir "$records/lock" 2>/dev/null; then
    remove_dead_lock
    mkdir "$records/lock" 2>/dev/null || refuse_lock
  fi
  lock=$records/lock
  printf '%s\n' $$ >"$lock/pid" || refuse_full_disk "$lock/pid"
}

# Ends the script because the file $1 cannot be written.
refuse_full_disk() {
  show_path "$1"
  remove_records
  fail "The file $shown cannot be written. Free some space on the disk, and run this again. Nothing was changed."
}

release_lock() {
  rm -rf "$lock"
  lock=''
}

refuse_lock() {
  show_path "$records/lock"
  fail "Another run is changing the settings (process ${lock_pid:-unknown}). Run this again later; if there is no such process, delete the folder $shown first."
}

# Removes a lock whose process has ended. It is moved first, so that a lock that another run takes meanwhile is not lost.
remove_dead_lock() {
  read_lock "$records/lock"
  # A run writes its id right after it made the folder, but a busy machine may stop it in between.
  lock_seconds=0
  while [ -z "$lock_pid" ] && [ -d "$records/lock" ] && [ "$lock_seconds" -lt 5 ]; do
    sleep 1
    lock_seconds=$((lock_seconds + 1))
    read_lock "$records/lock"
  done
  if is_alive; then return; fi
  mv "$records/lock" "$records/lock.$$" 2>/dev/null || return 0
  read_lock "$records/lock.$$"
  if is_alive; then
    mv "$records/lock.$$" "$records/lock"
  else
    rm -rf "$records/lock.$$"
  fi
}

read_lock() {
  lock_pid=''
  [ ! -r "$1/pid" ] || read -r lock_pid <"$1/pid"
}

is_alive() {
  case $lock_pid in
    '' | *[!0-9]*) return 1 ;;
    *) kill -0 "$lock_pid" 2>/dev/null ;;
  esac
}

# The stamp as of now: $stamp.
read_stamp() {
  stamp=''
  [ ! -r "$records/stamp" ] || IFS= read -r stamp <"$records/stamp"
}

# Ends the script when another run has changed something since read_stamp.
check_stamp() {
  check_stamp_before=$stamp
  read_stamp
  [ "$stamp" = "$check_stamp_before" ] || fail 'Another run has changed the settings meanwhile. Run this again.'
}

# To be called before the first change of a run.
write_stamp() {
  [ -z "$is_stamped" ] || return 0
  is_stamped=yes
  printf '%s %s\n' "$run_time" $$ >"$records/stamp"
}

# Sets $saved_model to the model that the tool $1 was set up with by --model. False when the tool is not set up; the model is that
# of a former name of the service then.
find_saved_model() {
  if [ -r "$records/tools" ]; then
    while IFS=$TAB read -r saved_id saved_row_model; do
      if [ "$saved_id" = "$1" ]; then
        saved_model=$saved_row_model
        return 0
      fi
    done <"$records/tools"
  fi
  find_former_model "$1"
  return 1
}

# True when the tool $1 is set up, or a run that set it up was interrupted.
is_set_up() {
  if find_saved_model "$1"; then return 0; fi
  has_records "$1"
}

has_records() {
  for record_path in "$records/files/$1".*; do
    [ -d "$record_path" ] && return 0
  done
  return 1
}

# Puts the tool $1 with the model $2, or '', on record.
save_tool() {
  if find_saved_model "$1" && [ "$saved_model" = "$2" ]; then return 0; fi
  save_row "$records/tools" "$1" "$2"
}

# Puts the row of the tool $2 with the model $3, or '', into the table $1.
save_row() {
  {
    list_other_rows "$1" "$2"
    printf '%s\n' "$2${3:+$TAB$3}"
  } >"$1.new" && mv -f "$1.new" "$1"
}

# Removes the row of the tool $2 from the table $1.
remove_row() {
  [ -r "$1" ] || return 0
  list_other_rows "$1" "$2" >"$1.new" && mv -f "$1.new" "$1"
  [ -s "$1" ] || rm -f "$1"
}

list_other_rows() {
  [ -r "$1" ] || return 0
  while IFS= read -r other_row; do
    [ "${other_row%%"$TAB"*}" = "$2" ] || printf '%s\n' "$other_row"
  done <"$1"
}

# Creates the folder $1 and those above it. New ones are on record before they exist, so that a run that is killed leaves
# none behind. False: $reason says why.
make_folders() {
  list_new_folders "$1"
  make_rest=$new_folders
  record_folders || return 1
  while IFS= read -r make_line; do
    [ -n "$make_line" ] || continue
    decode_line "$make_line"
    make_folder "$decoded" "$decoded" || return 1
  done <<END
$make_rest
END
}

# Those of the folder $1 and the ones above it that do not exist, encoded: $new_folders.
list_new_folders() {
  new_folders='' make_path=$1
  while [ ! -d "$make_path" ] && [ -n "$make_path" ]; do
    encode_line "$make_path"
    new_folders=$encoded$NL$new_folders
    make_path=${make_path%/*}
  done
}

# Creates the folder $1 at $2. Folders of this script are for its user alone; those of tools have the permissions that the
# user chose.
make_folder() {
  case $1/ in
    "$state"/*) make_mask=077 ;;
    *) make_mask=$user_umask ;;
  esac
  reason=$(umask "$make_mask" && mkdir "$2" 2>&1) && return 0
  # Another run or a tool may have created it meanwhile.
  if [ -d "$2" ]; then return 0; fi
  reason=${reason##*: }
  return 1
}

# Appends the new folders to the record.
record_folders() {
  [ -n "$new_folders" ] || return 0
  reason=$({ printf '%s' "$new_folders" >>"$records/folders"; } 2>&1) && new_folders='' && return 0
  reason=$(last_words "$reason")
  return 1
}

# $1 without line breaks, in $encoded.
encode_line() {
  encoded=$1
  case $1 in
    *%* | *"$NL"*) ;;
    *) return ;;
  esac
  replace_all "$1" % %25
  replace_all "$replaced" "$NL" %0A
  encoded=$replaced
}

decode_line() {
  replace_all "$1" %0A "$NL"
  replace_all "$replaced" %25 %
  decoded=$replaced
}

# $1 with $3 for each $2, in $replaced.
replace_all() {
  replaced='' replace_rest=$1
  while :; do
    case $replace_rest in
      *"$2"*) ;;
      *) break ;;
    esac
    replaced=$replaced${replace_rest%%"$2"*}$3
    replace_rest=${replace_rest#*"$2"}
  done
  replaced=$replaced$replace_rest
}
