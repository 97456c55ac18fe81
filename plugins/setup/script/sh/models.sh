# The models that a tool is set up with, and the placeholders of its texts.

model_rows='' default_rows=''

# Sets $context_limit, $output_limit and $traits of the model $1; '' where they are not known.
find_model() {
  context_limit='' output_limit='' traits=''
  [ -n "$model_rows" ] || model_rows=$(list_models)
  while IFS=$TAB read -r model_name model_context model_output model_traits; do
    if [ "$model_name" = "$1" ]; then
      context_limit=${model_context#-} output_limit=${model_output#-} traits=$model_traits
      return 0
    fi
  done <<END
$model_rows
END
  return 1
}

# Sets $model, $small_model and $traits for the tool of find_tool: the model of --model, of its last run, or the default of
# its format.
choose_models() {
  model='' small_model=''
  [ -n "$default_rows" ] || default_rows=$(list_defaults)
  while IFS=$TAB read -r default_format default_model default_small; do
    [ "$default_format" != "$tool_format" ] || model=$default_model small_model=${default_small#-}
  done <<END
$default_rows
END
  if [ -n "$wanted_model" ]; then
    model=$wanted_model
  else
    find_saved_model "$tool_id"
    if [ -n "$saved_model" ] && find_model "$saved_model"; then model=$saved_model; fi
  fi
  small_model=${small_model:-$model}
  find_model "$small_model" || return 1
  small_context_limit=$context_limit small_output_limit=$output_limit
  find_model "$model" || return 1
  [ "$model" != "$small_model" ] || traits=$traits-same
}

# Ends the script when the model of --model is not in the catalog. As in requests, its name may lack the prefix.
check_wanted_model() {
  if [ -z "$wanted_model" ] || find_model "$wanted_model"; then return 0; fi
  if find_model "$key_prefix/$wanted_model"; then
    wanted_model=$key_prefix/$wanted_model
    return 0
  fi
  describe_unknown_model "$wanted_model"
  fail "$unknown" 2
}

# Puts the values of the placeholders into $1: $filled; $holds_key says whether the key was one of them. In one pass,
# because a value could look like a placeholder.
fill_placeholders() {
  filled='' fill_rest=$1 holds_key=''
  while :; do
    case $fill_rest in
      *@*) ;;
      *) break ;;
    esac
    filled=$filled${fill_rest%%@*}
    fill_rest=${fill_rest#*@}
    fill_value
  done
  filled=$filled$fill_rest
}

# Replaces the placeholder at the start of $fill_rest, whose first @ was removed.
fill_value() {
  case $fill_rest in
    KEY@*) filled=$filled$key holds_key=yes ;;
    MODEL@*) filled=$filled$model ;;
    SMALL@*) filled=$filled$small_model ;;
    CONTEXT@*) filled=$filled$context_limit ;;
    OUTPUT@*) filled=$filled$output_limit ;;
    SMALL_CONTEXT@*) filled=$filled$small_context_limit ;;
    SMALL_OUTPUT@*) filled=$filled$small_output_limit ;;
    *)
      filled=$filled@
      return
      ;;
  esac
  fill_rest=${fill_rest#*@}
}
