# Where the files of tools are, and which file a path really names.

# Checks HOME and sets $home, $config_home, $user_id and, by enter_service, $state, the folder of this script. That does not
# move with XDG_CONFIG_HOME: a run with it and one without it have to find the same records.
locate_home() {
  user_id=$(id -u)
  home=${HOME-}
  while :; do
    case $home in
      ?*/) home=${home%/} ;;
      *) break ;;
    esac
  done
  make_printable "$home"
  case $home in
    '') fail 'HOME is not set. Set it to your home folder, and run this again.' ;;
    /) fail 'HOME is "/", which is not a home folder. Set it to your home folder, and run this again.' ;;
    /*) ;;
    *) fail "HOME is \"$printable\", which is not an absolute path. Set it to your home folder, and run this again." ;;
  esac
  [ -d "$home" ] || fail "The home folder $printable does not exist. Set HOME to your home folder, and run this again."
  refuse_sudo
  # A relative path is invalid here (XDG Base Directory Specification).
  case ${XDG_CONFIG_HOME-} in
    /?*) config_home=${XDG_CONFIG_HOME%/} ;;
    *) config_home=$home/.config ;;
  esac
  enter_service "$slug"
}

# As root, files in the home folder of another user would belong to root afterwards. Containers do this on purpose: there, a
# warning must do.
refuse_sudo() {
  [ "$user_id" = 0 ] && read_attributes "$home" && [ "$file_owner" != 0 ] || return 0
  [ -z "${SUDO_UID-}${DOAS_USER-}${PKEXEC_UID-}" ] || fail 'This runs as root in the home folder of another user. Run it again without sudo.'
  case $action in
    setup | undo) warn "This runs as root in the home folder of another user: new files will belong to root." ;;
  esac
}

# Of a file in the table: $1, or $2 on macOS unless it is -, in $chosen_path.
choose_path() {
  chosen_path=$1
  if [ "$2" != - ] && is_macos; then chosen_path=$2; fi
}

# True when the file of the table at $chosen_path names this gateway. $expanded is where it is.
names_gateway() {
  expand_path "$chosen_path" && grep -q -F -e "$base_url" "$expanded" 2>/dev/null
}

# Sets $expanded to the absolute path for $1, such as ~/.x/y; with `a|b` the first that exists, or else the last.
# $places has lines VARIABLE TAB FOLDER: where the variable is set, it replaces the folder. False: $reason says why.
expand_path() {
  expand_rest=$1
  while :; do
    expand_one "${expand_rest%%"|"*}" || return 1
    case $expand_rest in
      *"|"*) expand_rest=${expand_rest#*"|"} ;;
      *) return 0 ;;
    esac
    if [ -e "$expanded" ] || [ -L "$expanded" ]; then return 0; fi
  done
}

expand_one() {
  expanded=''
  while IFS=$TAB read -r expand_variable expand_folder; do
    expand_place "$1" "$expand_variable" "$expand_folder"
  done <<END
$places
END
  if [ -z "$expanded" ]; then
    case $1 in
      '~/.config/'*) expanded=$config_home/${1#'~/.config/'} ;;
      '~/'*) expanded=$home/${1#'~/'} ;;
      *) expanded=$1 ;;
    esac
  fi
  case $expanded in
    /*) return 0 ;;
    *) reason="its folder is not an absolute path: $expanded" && return 1 ;;
  esac
}

# $1: path; $2: variable; $3: the folder that it replaces
expand_place() {
  case $2 in
    '' | *[!A-Za-z0-9_]*) return ;;
  esac
  eval "expand_value=\${$2-}"
  [ -n "$expand_value" ] || return 0
  case $1 in
    "$3"/*) expanded=${expand_value%/}${1#"$3"} ;;
  esac
}

# $1 as people write it, in $shown.
show_path() {
  shown=$1 shown_home=$home
  case $1 in
    */../* | */./*) show_without_dots ;;
  esac
  case $shown in
    "$shown_home"/*) make_printable "~${shown#"$shown_home"}" ;;
    *) make_printable "$shown" ;;
  esac
  shown=$printable
}

# A relative link leads to a path such as ~/.tool/../dotfiles/x. What `..` means depends on links above it.
show_without_dots() {
  dots_folder=$(cd -P "${shown%/*}" 2>/dev/null && pwd -P) || return 0
  shown=$dots_folder/${shown##*/}
  shown_home=$(cd -P "$home" && pwd -P)
}

# Follows the symbolic links at the end of the path $1 to the file that they lead to, which need not exist: $real.
resolve_path() {
  real=$1 resolve_count=0
  while [ -L "$real" ]; do
    resolve_count=$((resolve_count + 1))
    if [ "$resolve_count" -gt 40 ]; then
      reason='its symbolic links lead in a circle'
      return 1
    fi
    resolve_target=$(readlink "$real" && printf .) || {
      reason='its symbolic link cannot be read'
      return 1
    }
    resolve_target=${resolve_target%"$NL".}
    case $resolve_target in
      /*) real=$resolve_target ;;
      *) real=${real%/*}/$resolve_target ;;
    esac
  done
}

# Sets $file_mode (octal, without special bits), $file_links and $file_owner (uid) of the file or folder $1.
read_attributes() {
  attributes=$(ls -ldn "$1" 2>/dev/null) || return 1
  read -r attribute_mode file_links file_owner attribute_rest <<END
$attributes
END
  attribute_rest=${attribute_mode#?} file_mode=''
  while [ "${#file_mode}" -lt 3 ]; do
    attribute_next=${attribute_rest#???}
    add_digit "${attribute_rest%"$attribute_next"}"
    attribute_rest=$attribute_next
  done
}

# Appends the octal digit of $1, such as rw-, to $file_mode.
add_digit() {
  digit=0
  case $1 in r*) digit=4 ;; esac
  case $1 in ?w*) digit=$((digit + 2)) ;; esac
  case $1 in ??[xst]*) digit=$((digit + 1)) ;; esac
  file_mode=$file_mode$digit
}
