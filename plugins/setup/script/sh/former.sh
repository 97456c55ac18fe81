# Moves tools from former names of the service. Each of them is a service with another folder, other markers and other names in
# settings.
# What was set up under one is taken out by --undo, and before it is set up under the present name.
# A run that ends in between leaves the record `moving`, so that the next one knows the tools and their models.

former_tools=' ' moving_tools=' '

# Makes the service with the slug $1 the one whose records, markers and files everything else means.
enter_service() {
  slug=$1
  state=$home/.config/$slug
  records=$state/setup
  temporary_name=.$slug-setup
  fish_path="~/.config/fish/conf.d/$slug.fish"
  is_stamped='' backup='' forgotten='' kept_backups=''
}

# Runs $1 for each former name, the latest first.
each_former() {
  present_slug=$slug
  for former_slug in $former_slugs; do
    enter_service "$former_slug"
    "$1"
  done
  enter_service "$present_slug"
}

# Sets $moving_tools and $former_tools, those under a former name, to the ids between spaces; the models of both are in
# $work/former.
find_former_tools() {
  read_or_empty "$records/moving" >"$work/former"
  join_ids "$work/former"
  moving_tools=$joined_ids
  each_former list_former >"$work/former.names"
  join_ids "$work/former.names"
  former_tools=$joined_ids
  cat "$work/former.names" >>"$work/former"
}

# The ids in the table $1, each once, between spaces: $joined_ids.
join_ids() {
  joined_ids=' '
  for joined_id in $(cut -f 1 "$1"); do
    case $joined_ids in
      *" $joined_id "*) ;;
      *) [ "$joined_id" = shell ] || joined_ids="$joined_ids$joined_id " ;;
    esac
  done
}

list_former() {
  read_or_empty "$records/tools"
  read_or_empty "$records/moving"
  list_set_up
}

# True when a run that moved the tool $1 from a former name has not completed it.
is_moving() {
  case $moving_tools in
    *" $1 "*) return 0 ;;
    *) return 1 ;;
  esac
}

is_former() {
  case $former_tools in
    *" $1 "*) return 0 ;;
    *) return 1 ;;
  esac
}

# Sets $saved_model to the model of --model that the tool $1 had under a former name, or to ''.
find_former_model() {
  saved_model=''
  is_former "$1" || is_moving "$1" || return 0
  while IFS=$TAB read -r former_id former_model; do
    if [ "$former_id" = "$1" ] && [ -z "$saved_model" ]; then saved_model=$former_model; fi
  done <"$work/former"
}

# True when tools that are to be set up are set up under a former name.
has_former_tools() {
  for former_ready in $ready; do
    if is_former "$former_ready"; then return 0; fi
  done
  return 1
}

# Takes the tools of $ready out of what was set up under former names; then the files are planned anew. With --dry-run, only
# shows it.
take_over() {
  has_former_tools || return 0
  if [ "$is_dry_run" != yes ]; then
    save_moving
    # Each name has a lock of its own, and a run holds one at a time.
    release_lock
  fi
  say "${NL}Settings under a former name of $service are taken out first:"
  take_over_tools=$wanted_tools take_over_consent=$has_consent
  action=undo wanted_tools=$ready has_consent=yes
  # In $work, they mean variables that a tool of the present service wants.
  mkdir "$work/wanted"
  for take_over_path in "$work/variables."*; do
    [ ! -f "$take_over_path" ] || mv "$take_over_path" "$work/wanted"
  done
  take_over_count=$plan_count
  each_former undo_service
  plan_count=$take_over_count
  for take_over_path in "$work/wanted/"*; do
    [ ! -f "$take_over_path" ] || mv "$take_over_path" "$work"
  done
  action=setup wanted_tools=$take_over_tools has_consent=$take_over_consent
  if [ "$is_dry_run" != yes ]; then
    take_lock
    check_stamp
  fi
  plan_again
}

# Puts the tools that are about to lose their former settings on record.
save_moving() {
  for moving_id in $ready; do
    is_former "$moving_id" || continue
    find_saved_model "$moving_id"
    save_row "$records/moving" "$moving_id" "$saved_model" || refuse_full_disk "$records/moving"
  done
  # Folders that were created under a former name, such as ~/.config, are no longer empty when its records go. They come
  # first, because folders are removed from the last one.
  each_former list_folders >"$work/folders"
  list_folders >>"$work/folders"
  awk '!is_listed[$0]++' "$work/folders" >"$records/folders.new" && mv -f "$records/folders.new" "$records/folders" ||
    refuse_full_disk "$records/folders"
}

list_folders() {
  read_or_empty "$records/folders"
}

plan_again() {
  n=0
  while [ "$n" -lt "$plan_count" ]; do
    n=$((n + 1))
    get real
    [ -n "$real" ] || continue
    rm -f "$work/plan/$n/current" "$work/plan/$n/previous" "$work/plan/$n/before" "$work/plan/$n/after"
    compute_file
  done
}

# --undo of tools is that of a move which was interrupted, too.
forget_moving() {
  [ -r "$records/moving" ] || return 0
  if [ -z "$wanted_tools" ]; then
    rm -f "$records/moving"
    return
  fi
  for moving_id in $wanted_tools; do
    remove_row "$records/moving" "$moving_id"
  done
}
