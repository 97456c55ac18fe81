# Requests to the gateway, and what an answer or its absence means. Redirects are not followed: the key is for the gateway
# alone. Everything is waited for in short steps, so that Ctrl+C works.

# Windows PowerShell starts with TLS 1.0 on some systems. The setting belongs to the whole session: it is put back.
function Enable-Tls {
  $session.protocols = [Net.ServicePointManager]::SecurityProtocol
  $tls12 = [Net.SecurityProtocolType] 'Tls12'
  # 0 leaves the choice to the system.
  if ([int] $session.protocols -ne 0) { [Net.ServicePointManager]::SecurityProtocol = $session.protocols -bor $tls12 }
}

function Restore-Tls {
  if ($null -ne $session.protocols) { [Net.ServicePointManager]::SecurityProtocol = $session.protocols }
}

# Sends a request with the key. Gives status (0: no answer), body, seconds, and failure: a sentence, or '' when the gateway
# itself has answered.
function Invoke-Gateway([string] $method, [string] $path, [string] $json = '', [int] $limit = 30) {
  $clock = [Diagnostics.Stopwatch]::StartNew()
  $answer = @{ status = 0; body = ''; seconds = 0; failure = '' }
  $request = New-Request $method $path $limit
  try {
    if ($json) { Send-Body $request $json $clock $limit }
    $response = Wait-Response $request $clock $limit
    try {
      $answer.status = [int] $response.StatusCode
      $answer.body = Read-Body $response $clock $limit
      $answer.location = [string] $response.Headers['Location']
    } finally {
      $response.Close()
    }
    $answer.failure = Get-AnswerFailure $answer
  } catch {
    $request.Abort()
    $answer.status = 0
    $answer.failure = Get-SilenceFailure $_.Exception $limit
  }
  $answer.seconds = [Math]::Round($clock.Elapsed.TotalSeconds, 1)
  return $answer
}

function New-Request([string] $method, [string] $path, [int] $limit) {
  $request = [Net.WebRequest]::Create($data.baseUrl + $path)
  $request.Method = $method
  $request.AllowAutoRedirect = $false
  $request.Timeout = $limit * 1000
  $request.UserAgent = "$($data.slug)-setup"
  $request.Headers['Authorization'] = "Bearer $($session.key)"
  return $request
}

function Send-Body($request, [string] $json, $clock, [int] $limit) {
  $bytes = $utf8.GetBytes($json)
  $request.ContentType = 'application/json'
  $request.ContentLength = $bytes.Length
  $task = $request.GetRequestStreamAsync()
  Wait-Task $task $clock $limit
  $stream = $task.Result
  try { $stream.Write($bytes, 0, $bytes.Length) } finally { $stream.Dispose() }
}

# An answer with an error status is an answer too.
function Wait-Response($request, $clock, [int] $limit) {
  $task = $request.GetResponseAsync()
  try {
    Wait-Task $task $clock $limit
    return $task.Result
  } catch {
    $refused = Find-Exception $_.Exception ([Net.WebException])
    if ($refused -and $refused.Response) { return $refused.Response }
    throw
  }
}

# At most 4 MiB: no answer that matters here is that long.
function Read-Body($response, $clock, [int] $limit) {
  $stream = $response.GetResponseStream()
  $memory = New-Object IO.MemoryStream
  $buffer = New-Object byte[] 65536
  try {
    do {
      $task = $stream.ReadAsync($buffer, 0, $buffer.Length)
      Wait-Task $task $clock $limit
      $memory.Write($buffer, 0, $task.Result)
    } while ($task.Result -gt 0 -and $memory.Length -lt 4194304)
  } finally {
    $stream.Dispose()
  }
  return $utf8.GetString($memory.ToArray()).TrimStart([char] 0xFEFF)
}

# Returns when the task has ended; throws what it has thrown, or a TimeoutException after $limit seconds in all.
function Wait-Task($task, $clock, [int] $limit) {
  while (-not $task.Wait(200)) {
    if ($clock.Elapsed.TotalSeconds -gt $limit) { throw (New-Object TimeoutException 'no answer in time') }
  }
}

function Find-Exception($exception, [type] $wanted) {
  for ($one = $exception; $null -ne $one; $one = $one.InnerException) {
    if ($wanted.IsInstanceOfType($one)) { return $one }
  }
}

# Only the origin is named: a path makes the sentences hard to read.
function Get-Origin { return [regex]::Match($data.baseUrl, '^[a-z]+://[^/]*').Value }

# A sentence for no answer. Windows PowerShell has the cause in WebException.Status, PowerShell 7 in what is inside of it.
function Get-SilenceFailure($exception, [int] $limit) {
  $origin = Get-Origin
  $web = Find-Exception $exception ([Net.WebException])
  $socket = Find-Exception $exception ([Net.Sockets.SocketException])
  $status = if ($web) { [string] $web.Status } else { '' }
  $code = if ($socket) { [string] $socket.SocketErrorCode } else { '' }
  if ((Find-Exception $exception ([TimeoutException])) -or $status -ceq 'Timeout' -or $code -ceq 'TimedOut') {
    return "$origin did not answer within $limit s. Try again, or check whether a proxy or firewall blocks it."
  }
  if ($status -ceq 'NameResolutionFailure' -or $code -in 'HostNotFound', 'NoData', 'TryAgain') {
    return "The host name of $origin could not be resolved. Check the network connection and the address."
  }
  if ($status -ceq 'ProxyNameResolutionFailure') {
    return "The host name of the network's proxy could not be resolved. Check the proxy in the settings of Windows."
  }
  if ($status -in 'TrustFailure', 'SecureChannelFailure' -or
    (Find-Exception $exception ([Security.Authentication.AuthenticationException]))) {
    return "The TLS certificate of $origin is not trusted. If a company proxy inspects the traffic of this computer, " +
    'its certificate must be among the trusted ones of Windows.'
  }
  if ($status -ceq 'ConnectFailure' -or $code -ceq 'ConnectionRefused') {
    return "Nothing accepts connections at $origin. The gateway may be down, or a firewall blocks it."
  }
  if ($status -in 'ReceiveFailure', 'ConnectionClosed', 'KeepAliveFailure' -or $code -ceq 'ConnectionReset' -or
    (Find-Exception $exception ([IO.IOException]))) {
    return "The connection to $origin broke before the answer was complete. Try again."
  }
  $detail = [string] $exception.GetBaseException().Message
  return "$origin could not be reached: $(ConvertTo-Printable $detail)"
}

# '' when the gateway has answered: JSON at any status, or events.
function Get-AnswerFailure($answer) {
  $origin = Get-Origin
  $status = $answer.status
  if ($status -eq 407) {
    return "The proxy of this network refused to connect to $origin (407). Ask the administrator of the network."
  }
  if ($status -ge 300 -and $status -lt 400) {
    $target = if ($answer.location) { " to $(ConvertTo-Printable $answer.location)" } else { '' }
    return "Something between this computer and $origin answered instead of it ($status$target). " +
    'Open a page in a browser: the network may want a sign-in.'
  }
  $start = $answer.body.TrimStart()
  if ($start -cmatch '\A\{') { return '' }
  if ($status -lt 300 -and $start -cmatch '\A((data|event|id)?:|\z)') { return '' }
  if ($status -ge 500) {
    return "$origin answered with $status and no explanation: the gateway is down or restarting. Try again in a minute."
  }
  $what = if (-not $start) { 'an empty answer' } elseif ($start -cmatch '\A<') { 'a web page' } else { 'no JSON' }
  return "Something between this computer and $origin answered instead of it ($status, $what). " +
  "A proxy, a firewall or the network's sign-in page may block it."
}

# The object in a JSON text; $null for anything else.
function Read-Json([string] $text) {
  if ($text -cnotmatch '\A\s*\{') { return $null }
  try { return ConvertFrom-Json $text } catch { return $null }
}

# The message of the gateway's error; '' without one.
function Get-ErrorMessage($answer) {
  $read = Read-Json $answer.body
  if ($null -eq $read -or $read.error.message -isnot [string]) { return '' }
  $message = ConvertTo-Printable $read.error.message
  return $message.Substring(0, [Math]::Min(400, $message.Length))
}
