# Messages, questions, errors and the temporary folder. $session holds what all parts share:
# work (temporary folder), isDryRun, key, keyHint; of the name that Enter-Service has chosen: slug, stateParent, state (folder
# of the records); locks (open files by slug).

function Write-Line([string] $text, [string] $colour) {
  if ($colour) { Write-Host $text -ForegroundColor $colour } else { Write-Host $text }
}

function Write-Warn([string] $text) { Write-Line $text 'Yellow' }

# Ends the script with this exit code: 1 a failure, 2 wrong arguments.
function Stop-Setup([string] $message, [int] $code = 1) {
  $failure = New-Object InvalidOperationException $message
  $failure.Data['setup_code'] = $code
  throw $failure
}

# Ends what is being done for one tool; the others go on.
function Stop-Tool([string] $reason) {
  $failure = New-Object InvalidOperationException $reason
  $failure.Data['setup_tool'] = $true
  throw $failure
}

# The reason of a failed tool, in words: what .NET says is wrapped in the name of the method that was called.
function Get-Reason($failure) {
  $exception = $failure.Exception
  while ($exception.InnerException) { $exception = $exception.InnerException }
  return Hide-Keys ([string] $exception.Message)
}

# Text without control characters: names of files and answers of servers may contain what a terminal obeys.
function ConvertTo-Printable([string] $text) {
  return [regex]::Replace($text, '[\x00-\x1f\x7f-\x9f]', ' ')
}

# False when nobody can be asked: a service, a scheduled task, or standard input from a file.
function Test-Terminal {
  if (-not [Environment]::UserInteractive) { return $false }
  # It has no console, which looks like redirected input, and asks in a window.
  if ($Host.Name -ceq 'Windows PowerShell ISE Host') { return $true }
  return -not [Console]::IsInputRedirected
}

# True for yes, which is also what Enter means.
function Confirm-Yes([string] $question) {
  try { $answer = [string] (Read-Host "$question [Y/n]") } catch {
    Stop-Setup 'Nobody can be asked here. Run the script with -Yes.'
  }
  return $answer.Trim().ToLowerInvariant() -cmatch '\A(y|yes)?\z'
}

# Reads a line that is not shown; '' when nobody can be asked.
function Read-Hidden([string] $question) {
  if (-not (Test-Terminal)) { return '' }
  try { $secret = Read-Host $question -AsSecureString } catch { return '' }
  return (New-Object Net.NetworkCredential '', $secret).Password.Trim()
}

function New-WorkFolder {
  $name = $data.slug + '-setup-' + [guid]::NewGuid().ToString('n')
  $session.work = [IO.Path]::Combine([IO.Path]::GetTempPath(), $name)
  $null = [IO.Directory]::CreateDirectory($session.work)
  Protect-Path $session.work
}

# Runs at the end, however the script ends.
function Clear-Work {
  if ($session.work -and [IO.Directory]::Exists($session.work)) {
    try { [IO.Directory]::Delete($session.work, $true) } catch {
      Write-Warn "A temporary folder could not be removed: $($session.work)"
    }
  }
}

# Allows only this user, and the system for its backups. A file system without permissions stays as it is.
function Protect-Path([string] $path) {
  try {
    $user = [Security.Principal.WindowsIdentity]::GetCurrent().User.Value
    $inherit = if ([IO.Directory]::Exists($path)) { '(OI)(CI)' } else { '' }
    $grants = "/grant:r `"*${user}:${inherit}F`" `"*S-1-5-18:${inherit}F`""
    $tool = [IO.Path]::Combine([Environment]::SystemDirectory, 'icacls.exe')
    $null = Start-Program $tool "`"$path`" /inheritance:r $grants /q"
  } catch {
    Write-Verbose "Permissions of $path are unchanged."
  }
}

# Runs a program without a window. Gives its exit code and what it printed, as code, output and errors.
function Start-Program([string] $file, [string] $arguments) {
  $start = New-Object Diagnostics.ProcessStartInfo $file, $arguments
  $start.UseShellExecute = $false
  $start.CreateNoWindow = $true
  $start.RedirectStandardInput = $true
  $start.RedirectStandardOutput = $true
  $start.RedirectStandardError = $true
  $start.StandardOutputEncoding = [Text.Encoding]::UTF8
  $start.StandardErrorEncoding = [Text.Encoding]::UTF8
  $process = Start-Bare $start
  try {
    $process.StandardInput.Close()
    # Both are read at once: a program waits when one of them is full.
    $output = $process.StandardOutput.ReadToEndAsync()
    $errors = $process.StandardError.ReadToEndAsync()
    if (-not $process.WaitForExit(60000)) {
      $process.Kill()
      Stop-Tool "$file did not end within 60 seconds."
    }
    return @{ code = $process.ExitCode; output = $output.Result; errors = $errors.Result }
  } finally {
    $process.Dispose()
  }
}

# Starts it without NODE_OPTIONS: settings of the user's projects must not load code into the helper. The variable is hidden in
# this process, because .NET Framework cannot change the environment of another one where two names differ only in case, such
# as the Path and PATH that Git Bash leaves.
function Start-Bare($start) {
  $options = [Environment]::GetEnvironmentVariable('NODE_OPTIONS')
  try {
    [Environment]::SetEnvironmentVariable('NODE_OPTIONS', [NullString]::Value)
    return [Diagnostics.Process]::Start($start)
  } finally {
    if ($options) { [Environment]::SetEnvironmentVariable('NODE_OPTIONS', $options) }
  }
}
