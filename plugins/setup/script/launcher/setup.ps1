$utf8 = New-Object Text.UTF8Encoding $false

function Write-Line([string] $text, [string] $colour) {
  if ($colour) { Write-Host $text -ForegroundColor $colour } else { Write-Host $text }
}

# Ends the script with this exit code: 1 a failure, 2 wrong arguments.
function Stop-Setup([string] $message, [int] $code = 1) {
  $failure = New-Object InvalidOperationException $message
  $failure.Data['setup_code'] = $code
  throw $failure
}

# Returns the innermost message, which .NET wraps in the name of the called method.
function Get-Reason($failure) {
  $exception = $failure.Exception
  while ($exception.InnerException) { $exception = $exception.InnerException }
  return ([string] $exception.Message).TrimEnd('.')
}

# Returns false if the user cannot be asked: in a service, a scheduled task, or with redirected input.
function Test-Terminal {
  if (-not [Environment]::UserInteractive) { return $false }
  # The ISE has no console, which looks like redirected input, but it asks in a window.
  if ($Host.Name -ceq 'Windows PowerShell ISE Host') { return $true }
  return -not [Console]::IsInputRedirected
}

# Enter means yes.
function Confirm-Yes([string] $question) {
  try { $answer = [string] (Read-Host "$question [Y/n]") } catch {
    Stop-Setup 'Nobody can be asked here. Run the script with -Yes.'
  }
  if ($answer.Trim().ToLowerInvariant() -cnotmatch '\A(y|yes)?\z') { Stop-Setup 'Nothing was changed.' }
}

# Reads the key without showing it, at most three times.
function Read-Key {
  if ($session.questions -ge 3) { Stop-Setup 'Three times, no valid key was entered. Nothing was changed.' }
  $session.questions++
  try { $secret = Read-Host "API key of $($data.service) (not shown)" -AsSecureString } catch {
    Stop-Setup "No key was given, and nobody can be asked for it here. Set $($data.keyVariable), or pass -KeyFile FILE."
  }
  $key = (New-Object Net.NetworkCredential '', $secret).Password.Trim()
  if (-not $key) { Stop-Setup 'No key was entered. Nothing was changed.' }
  return $key
}

function New-WorkFolder {
  $name = $data.slug + '-setup-' + [guid]::NewGuid().ToString('n')
  $session.work = [IO.Path]::Combine([IO.Path]::GetTempPath(), $name)
  $null = [IO.Directory]::CreateDirectory($session.work)
  Protect-Path $session.work
}

# Grants access only to this user, and to the system for backups. Has no effect on file systems without permissions.
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

function Save-Text([string] $path, [string] $text) {
  [IO.File]::WriteAllBytes($path, $utf8.GetBytes($text))
}

# Runs a program without a window. Returns its exit code and output; with $isShown, prints the output line by line instead.
# Waits in short steps, so that Ctrl+C works.
function Start-Program([string] $file, [string] $arguments, [bool] $isShown) {
  $start = New-Object Diagnostics.ProcessStartInfo $file, $arguments
  $start.UseShellExecute = $false
  $start.CreateNoWindow = $true
  $start.RedirectStandardOutput = $true
  $start.StandardOutputEncoding = [Text.Encoding]::UTF8
  $process = [Diagnostics.Process]::Start($start)
  $lines = @()
  try {
    while ($true) {
      $task = $process.StandardOutput.ReadLineAsync()
      while (-not $task.Wait(200)) { Write-Verbose 'It is still running.' }
      if ($null -eq $task.Result) { break }
      if ($isShown) { Write-Line $task.Result } else { $lines += $task.Result }
    }
    if (-not $process.WaitForExit(60000)) { $process.Kill() }
    return @{ code = $process.ExitCode; output = $lines -join "`n" }
  } finally {
    $process.Dispose()
  }
}

# Sets variables of this process for programs that it starts. The table of ProcessStartInfo fails if two names differ only in case.
function Set-Inherited($values) {
  foreach ($name in @($values.Keys)) {
    $value = $values[$name]
    if (-not $value) { $value = [NullString]::Value }
    [Environment]::SetEnvironmentVariable($name, $value)
  }
}

# Sets $session.runtime to the program and arguments that run JavaScript: Node.js, Bun or Deno. Returns false without one.
function Find-Runtime {
  $kinds = @('node', '--version', 'v(\d+)', ''), @('bun', '--version', '(\d+)\.', ''), @('deno', '--version', 'deno (\d+)', 'run --allow-all ')
  # The executables of these tools contain Bun, which BUN_BE_BUN selects.
  foreach ($name in 'opencode', 'kilo', 'droid') { $kinds += , @($name, '--revision', '\A(\d+)\.\d+\.\d+\+', '') }
  foreach ($kind in $kinds) {
    foreach ($file in @(Get-Programs $kind[0])) {
      try { $version = [regex]::Match((Start-Program $file $kind[1]).output, $kind[2]) } catch { continue }
      if (-not $version.Success) { continue }
      if ($kind[0] -ceq 'node' -and [int] $version.Groups[1].Value -lt 18) { continue }
      $session.runtime = @{ file = $file; arguments = $kind[3] }
      return $true
    }
  }
  return $false
}

# Lists programs of this name on the path, except those in WindowsApps, which may open the Microsoft Store.
function Get-Programs([string] $name) {
  foreach ($command in @(Get-Command -Name $name -CommandType Application -All -ErrorAction SilentlyContinue)) {
    $file = [string] $command.Source
    if (-not $file.EndsWith('.exe', [StringComparison]::OrdinalIgnoreCase)) { continue }
    if ($file.IndexOf('\Microsoft\WindowsApps\', [StringComparison]::OrdinalIgnoreCase) -ge 0) { continue }
    $file
  }
}

# Converts arguments for the program: -DryRun becomes --dry-run, a list a text with commas. PowerShell does not parse them, because
# `irm URL | iex` has none, and a parameter block would leave its variables in the user's session.
function Get-Words($given) {
  $words = @()
  if ($null -ne $given) { $words = @($given) }
  $isPath = $false
  foreach ($word in $words) {
    $text = @($word) -join ','
    if ($isPath) { $text = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($text) }
    $name = ($text -creplace '^--?(?=[A-Za-z])|(?<=[A-Za-z])-|:$', '').ToLowerInvariant()
    $isOption = $text -cmatch '\A-' -and $options.ContainsKey($name)
    if ($isOption) { $text = $options[$name] }
    $isPath = $isOption -and $name -ceq 'keyfile'
    $text
  }
}

$options = @{
  tools = '--tools'; model = '--model'; keyfile = '--key-file'; yes = '--yes'; y = '--yes'; dryrun = '--dry-run'
  list = '--list'; undo = '--undo'; verify = '--verify'; help = '--help'; h = '--help'; '?' = '--help'; key = '--key'
}

# Quotes an argument by the rules of Windows programs.
function ConvertTo-Argument([string] $word) {
  $text = [regex]::Replace($word, '(\\*)"', '$1$1\"')
  return '"' + [regex]::Replace($text, '(\\+)$', '$1$1') + '"'
}

# Returns the exit code: 0 done, 1 something failed, 2 wrong arguments.
function Start-Setup($given) {
  try {
    # The variables exist in PowerShell 7 only.
    if ($IsLinux -or $IsMacOS) { Stop-Setup "This script is for Windows. Run: curl -fsSL $($data.baseUrl)/setup.sh | sh" }
    if ($PSVersionTable.PSVersion.Major -lt 5) { Stop-Setup 'This script needs Windows PowerShell 5.1 or PowerShell 7.' }
    $words = @(Get-Words $given)
    New-WorkFolder
    $inherited = @{ NODE_OPTIONS = ''; BUN_BE_BUN = '1'; BUN_RUNTIME_TRANSPILER_CACHE_PATH = '0'; SETUP_WORK = $session.work; SETUP_TERMINAL = if (Test-Terminal) { 'yes' } else { 'no' } }
    $before = [Environment]::GetEnvironmentVariable('NODE_OPTIONS')
    try {
      Set-Inherited $inherited
      if (Find-Runtime) { return Start-Runs $words }
      return Start-WithoutRuntime $words
    } finally {
      Set-Inherited @{ NODE_OPTIONS = $before; BUN_BE_BUN = ''; BUN_RUNTIME_TRANSPILER_CACHE_PATH = ''; SETUP_WORK = ''; SETUP_TERMINAL = ''; SETUP_CONSENT = '' }
    }
  } catch {
    $code = $_.Exception.Data['setup_code']
    if ($null -ne $code) {
      Write-Line $_.Exception.Message 'Red'
      return $code
    }
    Write-Line "The script stopped: $(Get-Reason $_)" 'Red'
    return 1
  } finally {
    Clear-Work
  }
}

function Clear-Work {
  if (-not $session.work -or -not [IO.Directory]::Exists($session.work)) { return }
  try { [IO.Directory]::Delete($session.work, $true) } catch { Write-Line "A temporary folder could not be removed: $($session.work)" 'Yellow' }
}

# Runs the program, and again with the answer whenever it ends to ask the user.
function Start-Runs($words) {
  $file = [IO.Path]::Combine($session.work, 'program.mjs')
  Save-Text $file ($program.Replace("`r`n", "`n") + "`nmain_.main($json);`n")
  while ($true) {
    Save-Registry
    $code = Start-Run $words
    switch ($code) {
      90 { Save-Text ([IO.Path]::Combine($session.work, 'key')) (Read-Key) }
      91 { Confirm-Yes 'Write these settings?'; Set-Inherited @{ SETUP_CONSENT = 'yes' } }
      92 { Confirm-Yes 'Continue?'; Set-Inherited @{ SETUP_CONSENT = 'yes' } }
      93 {
        Set-Variables
        return Start-Run @('--settle', $session.code)
      }
      default { return $code }
    }
  }
}

function Start-Run($words) {
  $arguments = @("`"$([IO.Path]::Combine($session.work, 'program.mjs'))`"") + @($words | ForEach-Object { ConvertTo-Argument $_ })
  return (Start-Program $session.runtime.file ($session.runtime.arguments + ($arguments -join ' ')) $true).code
}

# Writes the variables of the user for the program, in lines NAME TAB KIND TAB BASE64.
function Save-Registry {
  $key = [Microsoft.Win32.Registry]::CurrentUser.OpenSubKey('Environment')
  $lines = @()
  if ($null -ne $key) {
    foreach ($name in $key.GetValueNames()) {
      $value = [string] $key.GetValue($name, $null, [Microsoft.Win32.RegistryValueOptions]::DoNotExpandEnvironmentNames)
      $lines += "$name`t$($key.GetValueKind($name))`t$([Convert]::ToBase64String($utf8.GetBytes($value)))"
    }
    $key.Close()
  }
  Save-Text ([IO.Path]::Combine($session.work, 'registry')) ($lines -join "`n")
}

# Applies the changes of variables that the program has requested. The first line is its exit code.
function Set-Variables {
  $text = $utf8.GetString([IO.File]::ReadAllBytes([IO.Path]::Combine($session.work, 'changes')))
  $lines = @($text -csplit '\r?\n' | Where-Object { $_ })
  $session.code = $lines[0]
  foreach ($line in $lines) {
    $parts = @($line.Split("`t"))
    if ($parts.Count -lt 2) { continue }
    $value = $null
    if ($parts.Count -gt 2) { $value = $utf8.GetString([Convert]::FromBase64String($parts[2])) }
    Write-Variable $parts[0] $value $parts[1]
  }
}

# Sets the variable for programs that start from now on, and for this session. $null removes it.
function Write-Variable([string] $name, $value, [string] $kind) {
  if ($null -eq $value) { $value = [NullString]::Value }
  # Notifies other programs of the change, but stores a value with %NAMES% as plain text, and removes a variable with an empty
  # value.
  [Environment]::SetEnvironmentVariable($name, $value, [EnvironmentVariableTarget]::User)
  if ($kind -ceq 'ExpandString' -or ($null -ne $value -and -not $value)) {
    $type = [Microsoft.Win32.RegistryValueKind] 'String'
    if ($kind -ceq 'ExpandString') { $type = [Microsoft.Win32.RegistryValueKind] 'ExpandString' }
    $key = [Microsoft.Win32.Registry]::CurrentUser.OpenSubKey('Environment', $true)
    try { $key.SetValue($name, [string] $value, $type) } finally { $key.Close() }
  }
  if ($kind -ceq 'ExpandString') { $value = [Environment]::ExpandEnvironmentVariables([string] $value) }
  [Environment]::SetEnvironmentVariable($name, $value, [EnvironmentVariableTarget]::Process)
}
