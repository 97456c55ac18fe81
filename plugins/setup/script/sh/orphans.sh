# Takes marked lines out of profiles when the records are lost (--undo).

undo_orphans() {
  for orphan in "${ZDOTDIR:-$home}/.zshrc" "$home/.bashrc" "$home/.bash_profile" "$home/.bash_login" "$home/.profile"; do
    if find_orphan "$orphan"; then undo_orphan; fi
  done
}

# True when the file $1 has a block; it is read into the planned file $n then, and after is the file without the block.
find_orphan() {
  resolve_path "$1" || return 1
  if [ ! -f "$real" ] || [ ! -r "$real" ]; then return 1; fi
  plan_count=$((plan_count + 1))
  n=$plan_count
  create_plan
  cp "$real" "$plan/current" && find_block "$plan/current" && [ "$block_start" != 0 ] || return 1
  cut_block "$plan/current"
  mv "$plan/clean" "$plan/after"
}

undo_orphan() {
  orphans=yes
  show_path "$real"
  if [ "$is_dry_run" = yes ]; then
    show_files "$plan/current" "$plan/after" "$shown"
    return
  fi
  if [ "$has_consent" != yes ]; then
    require_terminal
    ask_yes "Lines of $service are left in $shown. Remove them?" || return 0
  fi
  if find_obstacle "$real" && replace_file "$real" "$plan/after" - "$plan/current"; then
    print_verdict 'Shell profile' cleaned "$shown"
  else
    has_failed=yes
    print_verdict 'Shell profile' failed "$shown: $reason"
  fi
}
