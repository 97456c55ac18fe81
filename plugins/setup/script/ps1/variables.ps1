# Environment variables of the user, in the registry where Windows keeps them. The record of each has the tools that need it
# and what it was before.

# value and kind as they are stored; $null and '' for a variable that is not set.
function Read-Variable([string] $name) {
  $found = @{ value = $null; kind = '' }
  $key = [Microsoft.Win32.Registry]::CurrentUser.OpenSubKey('Environment')
  if ($null -eq $key) { return $found }
  try {
    $found.value = $key.GetValue($name, $null, [Microsoft.Win32.RegistryValueOptions]::DoNotExpandEnvironmentNames)
    if ($null -ne $found.value) { $found.kind = [string] $key.GetValueKind($name) }
  } finally {
    $key.Close()
  }
  return $found
}

# Sets the variable for programs that start from now on, and for this session. $null removes it.
function Write-Variable([string] $name, $value, [string] $kind) {
  Assert-CanWrite
  if ($null -eq $value) {
    [Environment]::SetEnvironmentVariable($name, [NullString]::Value, [EnvironmentVariableTarget]::User)
    [Environment]::SetEnvironmentVariable($name, [NullString]::Value, [EnvironmentVariableTarget]::Process)
    return
  }
  # This tells other programs about the change, but makes a plain text of a value with %NAMES% in it, and removes a variable
  # whose value is empty.
  [Environment]::SetEnvironmentVariable($name, [string] $value, [EnvironmentVariableTarget]::User)
  if ($kind -ceq 'ExpandString' -or -not $value) { Write-Registry $name ([string] $value) $kind }
  if ($kind -ceq 'ExpandString') { $value = [Environment]::ExpandEnvironmentVariables([string] $value) }
  [Environment]::SetEnvironmentVariable($name, [string] $value, [EnvironmentVariableTarget]::Process)
}

function Write-Registry([string] $name, [string] $value, [string] $kind) {
  Assert-CanWrite
  $type = [Microsoft.Win32.RegistryValueKind] 'String'
  if ($kind -ceq 'ExpandString') { $type = [Microsoft.Win32.RegistryValueKind] 'ExpandString' }
  $key = [Microsoft.Win32.Registry]::CurrentUser.OpenSubKey('Environment', $true)
  try { $key.SetValue($name, $value, $type) } finally { $key.Close() }
}

# The variables of a tool, as tables of name and value.
function Get-Variables($wishes) {
  foreach ($action in $wishes.actions) {
    if ($action.kind -ceq 'variable') { @{ name = $action.name; value = Expand-Text $action.value $wishes.fill } }
  }
}

function Get-Owners($record) {
  if ($record) { @((ConvertFrom-Content $record.tools).Split(' ') | Where-Object { $_ }) }
}

function Test-VariableSet($variable, [string] $tool) {
  $record = Read-Record 'variables' $variable.name
  if ($null -eq $record -or @(Get-Owners $record) -cnotcontains $tool) { return $false }
  return Test-Same (Read-Variable $variable.name).value $variable.value
}

# True when something was changed.
function Set-UserVariable($variable, [string] $tool) {
  if (Test-VariableSet $variable $tool) { return $false }
  $record = Read-Record 'variables' $variable.name
  $now = Read-Variable $variable.name
  $parts = @{ tools = ConvertTo-Content ((@(Get-Owners $record) + $tool | Select-Object -Unique) -join ' ') }
  $parts.value = ConvertTo-Content $variable.value
  $isOurs = $null -ne $record -and (Test-Same $now.value (ConvertFrom-Content $record.value))
  if ($isOurs) {
    $parts.before = $record.before
    $parts.kind = $record.kind
  } elseif ($null -ne $now.value) {
    $parts.before = ConvertTo-Content $now.value
    $parts.kind = ConvertTo-Content $now.kind
  }
  Save-Record 'variables' $variable.name $parts
  Write-Variable $variable.name $variable.value 'String'
  Complete-Record 'variables' $variable.name
  return $true
}

# Takes the tool off the record of each variable except those in $keep. A variable that no tool needs gets back what it was.
# Gives the names of variables whose value is no longer ours: they stay.
function Clear-Variables([string] $tool, $keep) {
  foreach ($name in @(Get-RecordNames 'variables')) {
    $record = Read-Record 'variables' $name
    $owners = @(Get-Owners $record)
    if ($owners -cnotcontains $tool -or @($keep) -ccontains $name) { continue }
    $others = @($owners | Where-Object { $_ -cne $tool })
    if ($others.Count -gt 0) {
      $record.tools = ConvertTo-Content ($others -join ' ')
      Save-Record 'variables' $name $record
      Complete-Record 'variables' $name
      continue
    }
    if (-not (Restore-Variable $name $record)) { $name }
    Remove-Record 'variables' $name
  }
}

# False when somebody has changed the variable since; it stays then.
function Restore-Variable([string] $name, $record) {
  $now = Read-Variable $name
  $before = if ($null -ne $record.before) { ConvertFrom-Content $record.before } else { $null }
  if (Test-Same $now.value $before) { return $true }
  if (-not (Test-Same $now.value (ConvertFrom-Content $record.value))) { return $false }
  Write-Variable $name $before ([string] $record.kind)
  return $true
}
