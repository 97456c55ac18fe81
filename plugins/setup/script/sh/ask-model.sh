# One streamed request with a tool that the model must call, in each format. What a coding tool needs is proven by it.

# Asks the model $2 in the format $1. Sets $asked_problem, '' when the model called the tool, and $asked_seconds. Each pair
# is asked once per run: several tools share it.
ask_model() {
  ask_known=$(awk -F '\t' -v pair="$1 $2" '$1 == pair { print $2 "\t" $3; exit }' "$work/asked" 2>/dev/null)
  if [ -z "$ask_known" ]; then
    send_question "$1" "$2"
    ask_known=$asked_seconds$TAB$asked_problem
    say "$1 $2$TAB$ask_known" >>"$work/asked"
  fi
  asked_seconds=${ask_known%%"$TAB"*}
  asked_problem=${ask_known#*"$TAB"}
  [ -z "$asked_problem" ]
}

send_question() {
  asked_problem=''
  write_question "$1" "$2" >"$work/question"
  case $1 in
    chat) ask_path=/v1/chat/completions ;;
    gemini) ask_path="/v1beta/models/$2:streamGenerateContent?alt=sse" ;;
    *) ask_path=/v1/$1 ;;
  esac
  request_limit=120
  request POST "$ask_path" "$work/answer" "$work/question" || asked_problem=$failure
  asked_seconds=$seconds
  [ -n "$asked_problem" ] || read_answer "$1" "$2"
}

question='Call the tool report_ready with ok set to true. Do not answer with text.'
question_schema='{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}'

# The body of the request in the format $1 for the model $2. Sources: API references of OpenAI (Chat, Responses), Anthropic
# (Messages) and Google (generateContent).
write_question() {
  question_tool="\"name\":\"report_ready\",\"description\":\"Reports that the setup works.\""
  case $1 in
    chat)
      say "{\"model\":\"$2\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"$question\"}],"
      say "\"tools\":[{\"type\":\"function\",\"function\":{$question_tool,\"parameters\":$question_schema}}],"
      say "\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"report_ready\"}}}"
      ;;
    responses)
      say "{\"model\":\"$2\",\"stream\":true,\"store\":false,\"input\":\"$question\","
      say "\"tools\":[{\"type\":\"function\",$question_tool,\"strict\":false,\"parameters\":$question_schema}],"
      say "\"tool_choice\":{\"type\":\"function\",\"name\":\"report_ready\"}}"
      ;;
    messages)
      say "{\"model\":\"$2\",\"stream\":true,\"max_tokens\":1024,\"messages\":[{\"role\":\"user\",\"content\":\"$question\"}],"
      say "\"tools\":[{$question_tool,\"input_schema\":$question_schema}],"
      say "\"tool_choice\":{\"type\":\"tool\",\"name\":\"report_ready\"}}"
      ;;
    gemini)
      say "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"$question\"}]}],"
      say "\"tools\":[{\"functionDeclarations\":[{$question_tool,\"parameters\":$question_schema}]}],"
      say "\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"ANY\",\"allowedFunctionNames\":[\"report_ready\"]}}}"
      ;;
  esac
}

# Sets $asked_problem from the answer in the format $1 of the model $2: an error, a call that is missing, or a stream
# without its end.
read_answer() {
  if [ "$http_status" != 200 ]; then
    explain_refusal "$2"
    return
  fi
  read_events "$work/answer"
  answer_error=$(find_stream_error)
  if [ -n "$answer_error" ]; then
    asked_problem="the stream ended with an error: $answer_error"
  elif ! has_end "$1"; then
    asked_problem='the stream broke off before its end'
  elif ! has_call "$1"; then
    asked_problem="$2 answered without calling the tool"
  fi
}

explain_refusal() {
  refusal=$(error_message "$work/answer")
  # Responses clients get 400 for a model that does not exist: they repeat a 404.
  case $http_status:$refusal in
    401:*) asked_problem="the key $key_hint is not valid" ;;
    402:*) asked_problem="no active plan${refusal:+: $refusal}" ;;
    404:* | *'" not found'*) asked_problem="no such model: $1${refusal:+ ($refusal)}" ;;
    *) asked_problem="the gateway answered with $http_status${refusal:+: $refusal}" ;;
  esac
}

# Errors within a stream: `error` of Chat, Messages and Gemini, `response.error` and the event `error` of Responses.
find_stream_error() {
  awk -F '\t' '
    $1 == "type" { type = $3 }
    $1 == "error.message" || $1 == "response.error.message" || ($1 == "message" && type == "error") { print $3; exit }
    $1 == "error" && $2 == "string" { print $3; exit }
  ' "$work/values"
}

has_end() {
  awk -F '\t' -v format="$1" '
    format == "chat" && $1 == "done" { found = 1 }
    format == "responses" && $1 == "type" && $3 == "response.completed" { found = 1 }
    format == "messages" && $1 == "type" && $3 == "message_stop" { found = 1 }
    format == "gemini" && $1 == "candidates.0.finishReason" { found = 1 }
    END { exit !found }
  ' "$work/values"
}

has_call() {
  awk -F '\t' -v format="$1" '
    $3 != "report_ready" { next }
    format == "chat" && $1 ~ /^choices\.0\.delta\.tool_calls\.[0-9]+\.function\.name$/ { found = 1 }
    format == "responses" && $1 == "item.name" { found = 1 }
    format == "messages" && $1 == "content_block.name" { found = 1 }
    format == "gemini" && $1 ~ /^candidates\.0\.content\.parts\.[0-9]+\.functionCall\.name$/ { found = 1 }
    END { exit !found }
  ' "$work/values"
}
