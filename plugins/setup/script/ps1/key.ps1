# Where the API key comes from, and whether the gateway accepts it. Messages have $session.keyHint instead of it.

# Sets the key from -KeyFile, the variable, or a question, or ends the script.
function Read-Key([string] $file) {
  if ($file) {
    Set-Key (Read-KeyFile $file) "the file $(ConvertTo-Printable $file)"
    if ($session.keyProblem) { Stop-Setup $session.keyProblem }
    return
  }
  $name = Find-KeyVariable
  if (-not $name) { Request-Key; return }
  Set-Key ([string] [Environment]::GetEnvironmentVariable($name)) "the variable $name"
  if (-not $session.keyProblem) { return }
  if (-not (Test-Terminal)) { Stop-Setup $session.keyProblem }
  Write-Warn $session.keyProblem
  Request-Key
}

# The variable of this service, or else DAYPASS_API_KEY, which every service takes, unless the tools here are set up for a
# service of that name: the key is for that one then. '' when neither has a key.
function Find-KeyVariable {
  if (([string] [Environment]::GetEnvironmentVariable($data.keyVariable)).Trim()) { return $data.keyVariable }
  if (Test-OtherDaypass) { return '' }
  $pattern = '\A\s*' + [regex]::Escape($data.keyPrefix) + '[-_]'
  if ([string] [Environment]::GetEnvironmentVariable('DAYPASS_API_KEY') -cmatch $pattern) { return 'DAYPASS_API_KEY' }
  return ''
}

# True when tools are set up for a service named Daypass, unless this one had that name: the address in its records tells.
function Test-OtherDaypass {
  $state = [IO.Path]::Combine((Get-KnownFolder 'LOCALAPPDATA'), 'daypass\setup')
  if (-not [IO.Directory]::Exists($state)) { return $false }
  $address = [regex]::Escape($data.baseUrl) + '(/v1)?(["\s]|\z)'
  foreach ($kind in 'files', 'variables') {
    $folder = [IO.Path]::Combine($state, $kind)
    if (-not [IO.Directory]::Exists($folder)) { continue }
    foreach ($record in [IO.Directory]::GetDirectories($folder)) {
      foreach ($part in 'wanted', 'value') {
        if ([string] (Read-Content ([IO.Path]::Combine($record, $part))) -cmatch $address) { return $false }
      }
    }
  }
  return $true
}

function Read-KeyFile([string] $file) {
  $shown = ConvertTo-Printable $file
  $path = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($file)
  if ([IO.Directory]::Exists($path)) {
    Stop-Setup "The key file $shown is a folder. Name a file that holds the key and nothing else."
  }
  if (-not [IO.File]::Exists($path)) { Stop-Setup "The key file $shown does not exist." }
  try { $bytes = [IO.File]::ReadAllBytes($path) } catch {
    Stop-Setup "The key file $shown cannot be read. Check its permissions."
  }
  # Files that Windows PowerShell writes are UTF-16 with a byte order mark; this reads every encoding that has one.
  $reader = New-Object IO.StreamReader (New-Object IO.MemoryStream (, $bytes)), $utf8, $true
  return $reader.ReadToEnd()
}

# Asks, at most three times in all.
function Request-Key {
  while ($session.keyQuestions -lt 3) {
    $session.keyQuestions++
    $value = Read-Hidden "API key of $(ConvertTo-Printable $data.service) (not shown)"
    if (-not $value) { Stop-WithoutKey }
    Set-Key $value 'the input'
    if (-not $session.keyProblem) { return }
    Write-Warn $session.keyProblem
  }
  Stop-Setup 'Three times, no valid key was entered. Nothing was changed.'
}

function Stop-WithoutKey {
  if (Test-Terminal) { Stop-Setup 'No key was entered. Nothing was changed.' }
  Stop-Setup "No key was given, and nobody can be asked for it here. Set $($data.keyVariable), or pass -KeyFile FILE."
}

# Sets key, keyHint, keySource and keyProblem: '' or why this cannot be a key of this gateway. Keys of other services are
# refused here, so that they are never sent.
function Set-Key([string] $value, [string] $source) {
  $session.key = ''
  $session.keyHint = ''
  $session.keySource = $source
  $session.keyProblem = ''
  $value = $value.Trim()
  $service = ConvertTo-Printable $data.service
  if (-not $value) {
    $session.keyProblem = "The key in $source is empty."
  } elseif ($value -cnotmatch '\A[A-Za-z0-9_-]+\z') {
    $session.keyProblem = "The key in $source has characters that no key of $service has. " +
    'Copy it again, without quotes or spaces.'
  } elseif ($value -cnotmatch ('\A' + [regex]::Escape($data.keyPrefix) + '[-_].{12}')) {
    $session.keyProblem = "The key in $source is not a key of ${service}: those begin with $($data.keyPrefix)-. Copy it again."
  } else {
    $session.key = $value
    $session.keyHint = $value.Substring(0, $data.keyPrefix.Length + 5) + '...' + $value.Substring($value.Length - 4)
  }
}

# Asks the gateway about the key; ends the script when it cannot be used. A key that the gateway does not know is asked for
# again, unless it came from a file.
function Confirm-Key([string] $file) {
  while ($true) {
    $answer = Invoke-Gateway 'GET' '/v1/key'
    if ($answer.failure) { Stop-Setup "$($answer.failure) Nothing was changed." }
    if ($answer.status -ne 401) { break }
    $service = ConvertTo-Printable $data.service
    $problem = "$service does not accept the key $($session.keyHint) from $($session.keySource). " +
    "Copy it again, or make a new one at $($data.baseUrl)."
    if ($file -or $session.keyQuestions -ge 3 -or -not (Test-Terminal)) { Stop-Setup $problem }
    Write-Warn $problem
    Request-Key
  }
  Assert-Plan $answer
}

function Assert-Plan($answer) {
  $url = "$($data.baseUrl)/v1/key"
  if ($answer.status -ne 200) {
    $message = Get-ErrorMessage $answer
    if (-not $message) { $message = "$url answered with $($answer.status)." }
    Stop-Setup "$message Nothing was changed."
  }
  $read = Read-Json $answer.body
  if ($null -eq $read -or -not ($read.PSObject.Properties.Name -ccontains 'active_period')) {
    Stop-Setup "The answer of $url is not that of $(ConvertTo-Printable $data.service). A proxy may have changed it; nothing was changed."
  }
  if ($null -ne $read.active_period) { return }
  # A gateway that needs no plan refuses this empty request as invalid; elsewhere the plan is missed first.
  $trial = Invoke-Gateway 'POST' '/v1/chat/completions' '{}'
  if (-not $trial.failure -and $trial.status -eq 400) { return }
  $renewal = [string] $read.renew_url
  if ($renewal -cnotmatch '\Ahttps?://[!-~]+\z') { $renewal = "$($data.baseUrl)/buy" }
  Stop-Setup "The key $($session.keyHint) has no active plan. Choose one at $renewal, then run this again."
}

# The key in what the last run wrote: it can differ from the variable of this session. '' without one.
function Find-StoredKey {
  $pattern = '(?<![A-Za-z0-9_-])' + [regex]::Escape($data.keyPrefix) + '[-_][A-Za-z0-9]{40,}(?![A-Za-z0-9_-])'
  foreach ($kind in 'variables', 'files') {
    foreach ($name in @(Get-RecordNames $kind)) {
      $record = Read-Record $kind $name
      $found = [regex]::Match([string] $record.value + "`n" + [string] $record.wanted, $pattern)
      if ($found.Success) { return $found.Value }
    }
  }
  return ''
}
