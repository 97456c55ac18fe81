# Former names of the service: each is a service with a folder, markers and names in settings that differ from the present ones.
# What was set up under one is taken out by --undo, and before it is set up under the present name.

former_tools=' '

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

# Sets $former_tools to the ids between spaces; their models are in $work/former.
find_former_tools() {
  former_tools=' '
  each_former list_former >"$work/former"
  while IFS=$TAB read -r former_id former_model; do
    case $former_tools in
      *" $former_id "*) ;;
      *) [ "$former_id" = shell ] || former_tools="$former_tools$former_id " ;;
    esac
  done <"$work/former"
}

list_former() {
  read_or_empty "$records/tools"
  list_set_up
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
  is_former "$1" || return 0
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
  plan_again
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
