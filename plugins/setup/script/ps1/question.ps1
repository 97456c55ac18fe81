# One streamed request with a tool that the model must call, in each format. What a coding tool needs is proven by it.

# Asks the model. Gives seconds and problem, '' when the model called the tool. Each pair is asked once per run.
function Test-Model([string] $format, [string] $model) {
  $pair = "$format $model"
  if ($session.asked[$pair]) { return $session.asked[$pair] }
  $path = switch -CaseSensitive ($format) {
    'chat' { '/v1/chat/completions' }
    'gemini' { "/v1beta/models/${model}:streamGenerateContent?alt=sse" }
    default { "/v1/$format" }
  }
  $answer = Invoke-Gateway 'POST' $path (Get-Question $format $model) 120
  $problem = if ($answer.failure) { $answer.failure.TrimEnd('.') } else { Get-AnswerProblem $format $model $answer }
  $session.asked[$pair] = @{ seconds = $answer.seconds; problem = $problem }
  return $session.asked[$pair]
}

# Sources: API references of OpenAI (Chat, Responses), Anthropic (Messages) and Google (generateContent).
function Get-Question([string] $format, [string] $model) {
  $ask = 'Call the tool report_ready with ok set to true. Do not answer with text.'
  $schema = '{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}'
  $tool = '"name":"report_ready","description":"Reports that the setup works."'
  $user = "{`"role`":`"user`",`"content`":`"$ask`"}"
  $start = "{`"model`":`"$model`",`"stream`":true,"
  switch -CaseSensitive ($format) {
    'chat' {
      return $start + "`"messages`":[$user]," +
      "`"tools`":[{`"type`":`"function`",`"function`":{$tool,`"parameters`":$schema}}]," +
      '"tool_choice":{"type":"function","function":{"name":"report_ready"}}}'
    }
    'responses' {
      return $start + "`"store`":false,`"input`":`"$ask`"," +
      "`"tools`":[{`"type`":`"function`",$tool,`"strict`":false,`"parameters`":$schema}]," +
      '"tool_choice":{"type":"function","name":"report_ready"}}'
    }
    'messages' {
      return $start + "`"max_tokens`":1024,`"messages`":[$user]," +
      "`"tools`":[{$tool,`"input_schema`":$schema}]," +
      '"tool_choice":{"type":"tool","name":"report_ready"}}'
    }
    'gemini' {
      return "{`"contents`":[{`"role`":`"user`",`"parts`":[{`"text`":`"$ask`"}]}]," +
      "`"tools`":[{`"functionDeclarations`":[{$tool,`"parameters`":$schema}]}]," +
      '"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["report_ready"]}}}'
    }
  }
}

# '' when the answer has a call of the tool and its end; else why not.
function Get-AnswerProblem([string] $format, [string] $model, $answer) {
  if ($answer.status -ne 200) { return Get-RefusalProblem $model $answer }
  $hasCall = $false
  $hasEnd = $false
  foreach ($text in @(Split-Events $answer.body)) {
    if ($text -ceq '[DONE]') {
      if ($format -ceq 'chat') { $hasEnd = $true }
      continue
    }
    $message = Read-Json $text
    if ($null -eq $message) { continue }
    $broken = Get-StreamError $message
    if ($broken) { return "the stream ended with an error: $broken" }
    if (@(Get-CalledTools $format $message) -ccontains 'report_ready') { $hasCall = $true }
    if (Test-End $format $message) { $hasEnd = $true }
  }
  if (-not $hasEnd) { return 'the stream broke off before its end' }
  if (-not $hasCall) { return "$model answered without calling the tool" }
  return ''
}

function Get-RefusalProblem([string] $model, $answer) {
  $message = Get-ErrorMessage $answer
  $more = if ($message) { ": $message" } else { '' }
  switch -CaseSensitive ($answer.status) {
    401 { return "the key $($session.keyHint) is not valid" }
    402 { return "no active plan$more" }
    404 { return "no such model: $model$(if ($message) { " ($message)" })" }
  }
  return "the gateway answered with $($answer.status)$more"
}

# The data of each event.
function Split-Events([string] $body) {
  foreach ($block in ($body -csplit '(?:\r?\n){2,}')) {
    $lines = @($block -csplit '\r?\n' | Where-Object { $_ -cmatch '\Adata:' } | ForEach-Object { $_.Substring(5).Trim() })
    if ($lines.Count -gt 0) { $lines -join "`n" }
  }
}

# `error` of Chat, Messages and Gemini, `response.error` and the event `error` of Responses.
function Get-StreamError($message) {
  $found = $message.error
  if (-not $found) { $found = $message.response.error }
  if (-not $found -and $message.type -ceq 'error') { $found = $message }
  if (-not $found) { return '' }
  if ($found -is [string]) { return ConvertTo-Printable $found }
  return ConvertTo-Printable ([string] $found.message)
}

function Get-CalledTools([string] $format, $message) {
  switch -CaseSensitive ($format) {
    'chat' { foreach ($call in @(@($message.choices)[0].delta.tool_calls)) { $call.function.name } }
    'responses' { $message.item.name }
    'messages' { $message.content_block.name }
    'gemini' { foreach ($part in @(@($message.candidates)[0].content.parts)) { $part.functionCall.name } }
  }
}

function Test-End([string] $format, $message) {
  switch -CaseSensitive ($format) {
    'responses' { return $message.type -ceq 'response.completed' }
    'messages' { return $message.type -ceq 'message_stop' }
    'gemini' { return [bool] @($message.candidates)[0].finishReason }
  }
  return $false
}
