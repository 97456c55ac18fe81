# Variables of the user's shell: one file, $state/env, which the profile reads; fish reads its own.
# The record `variables` says which tools need which names. Lines of other people in $state/env stay.

# Plans the files for what the tools in $1 (ids between spaces) want now and what other tools wanted before: the new record
# in $work/owners, the new file in $work/env, planned files of the profile. $has_variables says whether any name is left.
plan_shell() {
  list_owners "$1" >"$work/owners"
  write_environment "$1"
  has_variables=''
  if [ -s "$work/owners" ]; then has_variables=yes; fi
  shell_first=$((plan_count + 1))
  tool_id=shell tool_name='Shell' places=''
  [ "$has_variables" = yes ] || return 0
  # --undo of some tools must not set up another shell than the one that was set up.
  [ "$action" = undo ] || plan_profiles
  if needs_fish; then plan_fish; fi
}

# The tools in $1 have new lists of names; those of others stay.
list_owners() {
  if [ -r "$records/variables" ]; then
    while IFS=$TAB read -r owner_id owner_variable; do
      case $1 in
        *" $owner_id "*) ;;
        *) printf '%s\t%s\n' "$owner_id" "$owner_variable" ;;
      esac
    done <"$records/variables"
  fi
  for owner_id in $1; do
    [ -r "$work/variables.$owner_id" ] || continue
    while IFS= read -r owner_variable; do
      owner_variable=${owner_variable#export }
      printf '%s\t%s\n' "$owner_id" "${owner_variable%%=*}"
    done <"$work/variables.$owner_id"
  done
}

# A name of two tools has one value, the newer one.
write_environment() {
  environment_ids=$1
  set --
  for environment_id in $environment_ids; do
    [ ! -r "$work/variables.$environment_id" ] || set -- "$@" "$work/variables.$environment_id"
  done
  # Without files, cat would read the standard input.
  cat /dev/null "$@" >"$work/variables"
  read_or_empty "$records/variables" >"$work/owners.before"
  read_or_empty "$state/env" >"$work/env.before"
  {
    [ -s "$work/env.before" ] || printf '%s\n' "# Written by $base_url/setup.sh, whose option --undo removes it."
    cat "$work/env.before"
  } >"$work/env.now"
  awk '
    function name_of(line) {
      if (line !~ /^export [A-Za-z0-9_]+=/) return ""
      sub(/^export /, "", line)
      sub(/=.*/, "", line)
      return line
    }
    part == "owners" { split($0, columns, "\t"); is_owned[columns[2]] = 1; next }
    part == "before" { split($0, columns, "\t"); was_owned[columns[2]] = 1; next }
    part == "new" {
      name = name_of($0)
      if (!(name in value)) order[++count] = name
      value[name] = $0
      next
    }
    {
      name = name_of($0)
      if (name in value) {
        if (!(name in is_done)) print value[name]
        is_done[name] = 1
      } else if (name == "" || name in is_owned || !(name in was_owned)) print
    }
    END { for (i = 1; i <= count; i++) if (!(order[i] in is_done)) print value[order[i]] }
  ' part=owners "$work/owners" part=before "$work/owners.before" part=new "$work/variables" \
    part=env "$work/env.now" >"$work/env"
}

read_or_empty() {
  if [ -r "$1" ]; then cat "$1"; fi
}

# True when the tool's variables were in $state/env already when the run began.
has_same_variables() {
  [ -s "$work/variables.$tool_id" ] || return 0
  has_lines "$work/variables.$tool_id" "$start_environment"
}

# True when each line of the file $1 is among the lines $2, which begins and ends with a line end. In the shell, because a
# line with the key must not become an argument.
has_lines() {
  while IFS= read -r has_line; do
    case $2 in
      *"$NL$has_line$NL"*) ;;
      *) return 1 ;;
    esac
  done <"$1"
}

# The profile of the user's shell. The terminals of macOS start bash as a login shell, which reads the first of three files
# instead of .bashrc: a new .bash_profile would hide the .profile of the user.
plan_profiles() {
  quote_path "$state/env"
  filled="if [ -r $quoted ]; then . $quoted; fi" holds_key=''
  case ${SHELL-} in
    */zsh)
      places=ZDOTDIR$TAB~$NL
      plan_file block '~/.zshrc' - -
      places=''
      ;;
    */bash)
      plan_file block '~/.bashrc' - -
      if is_macos; then plan_file block '~/.bash_profile|~/.bash_login|~/.profile|~/.bash_profile' - -; fi
      ;;
    */fish) ;;
    *) plan_file block '~/.profile' - - ;;
  esac
}

# True when fish is the user's shell, is used besides, or was set up before.
needs_fish() {
  if [ -f "$config_home/fish/conf.d/$slug.fish" ] || has_moved_fish; then return 0; fi
  [ "$action" != undo ] || return 1
  case ${SHELL-} in
    */fish) return 0 ;;
  esac
  has fish && [ -d "$config_home/fish" ]
}

# True when fish was set up while XDG_CONFIG_HOME named another folder.
has_moved_fish() {
  grep -q -x -F -e "$fish_path" "$records/files/shell".*/source 2>/dev/null
}

# fish does not read what other shells read.
plan_fish() {
  holds_key=yes
  filled=$(awk '
    !/^export [A-Za-z0-9_]+=/ { next }
    {
      name = $0
      sub(/^export /, "", name)
      sub(/=.*/, "", name)
      text = substr($0, length(name) + 10)
      text = substr(text, 1, length(text) - 1)
      gsub(/\047\\\047\047/, "\001", text)
      gsub(/\\/, "\\\\&", text)
      gsub(/\001/, "\\\047", text)
      printf "set -gx %s \047%s\047\n", name, text
    }
  ' "$work/env")
  if [ "$action" = undo ] && [ ! -f "$config_home/fish/conf.d/$slug.fish" ]; then
    plan_moved_files '' text "$fish_path" - -
  else
    plan_file text "$fish_path" - -
  fi
}

# The path $1 as a word of the shell, in $quoted, with $HOME for the home folder.
quote_path() {
  case $1 in
    "$home"/*[!A-Za-z0-9_./@%+,:-]*) ;;
    "$home"/*)
      quoted="\"\$HOME/${1#"$home"/}\""
      return
      ;;
  esac
  quote "$1"
}

# Writes what plan_shell planned. The reason of a failure is put with the file.
commit_shell() {
  n=$shell_first shell_status=0
  while [ "$n" -le "$plan_count" ]; do
    commit_file || shell_status=1
    n=$((n + 1))
  done
  return "$shell_status"
}

# Writes $state/env and the record of the names.
commit_environment() {
  if cmp -s "$work/env" "$state/env" && cmp -s "$work/owners" "$work/owners.before"; then return 0; fi
  environment_before=''
  [ ! -f "$state/env" ] || environment_before=$work/env.before
  write_stamp
  resolve_path "$state/env" && replace_file "$real" "$work/env" 600 "$environment_before" && save_owners && return 0
  show_path "$state/env"
  refuse_file "$shown" failed "$reason"
  return 1
}

save_owners() {
  reason=$(cp "$work/owners" "$records/variables.new" 2>&1 && mv -f "$records/variables.new" "$records/variables" 2>&1)
}

# Removes $state/env, unless somebody else has written into it.
remove_environment() {
  rm -f "$records/variables"
  [ -f "$state/env" ] || return 0
  if grep -q -v '^#' "$work/env"; then
    replace_file "$state/env" "$work/env" 600 "$work/env.before"
  else
    rm -f "$state/env"
  fi
}
