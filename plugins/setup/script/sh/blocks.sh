# Blocks: lines between two markers, in files whose comments begin with #. The file is cut with head and tail, which keep
# every byte of the rest.

# Computes after and before of the planned file with the block.
compute_block() {
  : >"$plan/empty"
  block_source=$plan/current
  [ -f "$block_source" ] || block_source=$plan/empty
  if ! find_block "$block_source"; then
    verdict=failed
    return
  fi
  cut_block "$block_source"
  write_block
  if [ "$is_ours" = yes ]; then return; fi
  # What the user has added to the file since belongs to it.
  if [ -f "$plan/current" ] && { [ -s "$plan/clean" ] || [ "$block_start" = 0 ] || [ -f "$plan/before" ]; }; then
    mv "$plan/clean" "$plan/before"
  else
    rm -f "$plan/before"
  fi
}

# Writes after: the file with the new block where the old one was, or at the end.
write_block() {
  {
    cat "$plan/head"
    if [ "$block_start" = 0 ] && ends_without_line "$plan/head"; then printf '\n'; fi
    write_line "$block_begin"
    cat "$plan/wanted"
    write_line "$block_end"
    cat "$plan/tail"
  } >"$plan/after"
}

# Finds the lines of the markers in the file $1: $block_start and $block_stop, 0 without a block. A carriage return at
# their ends is ignored. False when the markers are not one pair.
find_block() {
  block_begin="# >>> $slug >>>" block_end="# <<< $slug <<<"
  block_lines=$(awk -v begin="$block_begin" -v end="$block_end" '
    { sub(/\r$/, "") }
    $0 == begin { printf "b%d ", NR }
    $0 == end { printf "e%d ", NR }
  ' "$1")
  block_start=0 block_stop=0
  case $block_lines in
    '') return 0 ;;
    b*\ b* | b*\ e*\ ?* | e*)
      reason="its markers \"$block_begin\" and \"$block_end\" are not one pair"
      return 1
      ;;
    b*\ e*) ;;
    *)
      reason="its marker \"$block_end\" is missing"
      return 1
      ;;
  esac
  block_start=${block_lines#b}
  block_start=${block_start%% *}
  block_stop=${block_lines#* e}
  block_stop=${block_stop% }
}

# Cuts the file $1 at the block into head and tail; clean is both. The line end that was added to a last line without one
# is removed again.
cut_block() {
  if [ "$block_start" = 0 ]; then
    cp "$1" "$plan/head"
    : >"$plan/tail"
  else
    : >"$plan/head"
    [ "$block_start" = 1 ] || head -n $((block_start - 1)) "$1" >"$plan/head"
    tail -n +$((block_stop + 1)) "$1" >"$plan/tail"
  fi
  cat "$plan/head" "$plan/tail" >"$plan/clean"
  if [ "$block_start" != 0 ] && [ ! -s "$plan/tail" ] && [ -f "$plan/before" ] && ends_without_line "$plan/before"; then
    cut_line_end "$plan/clean"
  fi
}

ends_without_line() {
  [ -s "$1" ] && [ -n "$(tail -c 1 "$1")" ]
}

# Removes the last character of the file $1, a line end.
cut_line_end() {
  cut_size=$(wc -c <"$1")
  [ "$cut_size" -gt 0 ] || return 0
  head -c $((cut_size - 1)) "$1" >"$1.cut" && mv "$1.cut" "$1"
}
