# Without a runtime, writes variables and new files, and prints the settings for existing files. Keeps the same records as the program,
# so that each can undo the other's changes.

function Start-WithoutRuntime($words) {
  $needs = 'needs Node.js, Bun or Deno, none of which was found on this computer. Install one, and run this again.'
  $choices = @{ tools = @(); keyFile = ''; action = 'setup'; isYes = $false }
  for ($index = 0; $index -lt $words.Count; $index++) {
    switch -CaseSensitive ($words[$index]) {
      '--tools' { $index++; $choices.tools = @(([string] $words[$index]).Split(',')) }
      '--key-file' { $index++; $choices.keyFile = [string] $words[$index] }
      '--yes' { $choices.isYes = $true }
      '--undo' { $choices.action = 'undo' }
      '--list' { $choices.action = 'list' }
      default { Stop-Setup "This script takes -Tools a,b, -KeyFile FILE, -Yes, -List and -Undo here. Everything else $needs" 2 }
    }
  }
  $session.state = [IO.Path]::Combine([Environment]::ExpandEnvironmentVariables('%LOCALAPPDATA%'), "$($data.slug)\setup")
  if ($choices.action -ceq 'undo') { return Undo-Records $choices }
  $tools = @($session.table | Where-Object { if ($choices.tools.Count -gt 0) { $choices.tools -ccontains $_.id } else { -not $_.isOnRequest -and (Test-Found $_) } })
  if ($choices.action -ceq 'list') {
    foreach ($tool in $session.table) { Write-Line ('  {0,-16} {1,-24} {2}' -f $tool.id, $tool.name, $(if (Test-Found $tool) { 'found' } else { '' })) }
    return 0
  }
  if ($tools.Count -eq 0) { Stop-Setup "No tool was found on this computer. Name one: -Tools $($session.table[0].id)." }
  if (-not $choices.isYes -and -not (Test-Terminal)) { Stop-Setup 'Nobody can be asked for confirmation here. Pass -Yes to go on without it.' }
  $key = Find-Key $choices.keyFile
  Write-Line "Settings for $($data.service) ($($data.baseUrl)), without Node.js, Bun or Deno: $(@($tools | ForEach-Object { $_.name }) -join ', ')"
  if (-not $choices.isYes) { Confirm-Yes 'Write these settings?' }
  Add-Folder ([IO.Path]::Combine($session.state, 'files'))
  Protect-Path $session.state
  foreach ($tool in $tools) { Install-Tool $tool $key }
  Write-Line "To take the settings out again: & ([scriptblock]::Create((irm $($data.baseUrl)/setup.ps1))) -Undo"
  return 0
}

function Find-Key([string] $file) {
  $key = [string] [Environment]::GetEnvironmentVariable($data.keyVariable)
  if ($file) { $key = $utf8.GetString([IO.File]::ReadAllBytes($file)) }
  if (-not $key) { $key = Read-Key }
  if ($key.Trim() -cnotmatch ('\A' + [regex]::Escape($data.keyPrefix) + '[-_][A-Za-z0-9_-]{12,}\z')) {
    Stop-Setup "This is not a key of $($data.service): those begin with $($data.keyPrefix)-. Copy it again."
  }
  return $key.Trim()
}

# Returns true if a program of the tool is on the path, or one of its folders exists.
function Test-Found($tool) {
  foreach ($command in $tool.commands) {
    if (@(Get-Command -Name $command -CommandType 'Application', 'ExternalScript' -ErrorAction SilentlyContinue).Count -gt 0) { return $true }
  }
  foreach ($folder in $tool.folders) { if ([IO.Directory]::Exists([Environment]::ExpandEnvironmentVariables($folder))) { return $true } }
  return $false
}

function Install-Tool($tool, [string] $key) {
  try {
    foreach ($file in $tool.files) { Install-File $tool $file ($file.text.Replace('@KEY@', $key)) }
    foreach ($variable in $tool.variables) { Install-Variable $tool.id $variable.name ($variable.value.Replace('@KEY@', $key)) }
  } catch { Write-Line "  $($tool.name) failed $(Get-Reason $_)" 'Red' }
  Add-Line 'tools' $tool.id
}

function Install-File($tool, $file, [string] $text) {
  $path = [IO.Path]::GetFullPath([Environment]::ExpandEnvironmentVariables($file.path))
  $files = [IO.Path]::Combine($session.state, 'files')
  $record = $null
  foreach ($folder in @([IO.Directory]::GetDirectories($files))) {
    if (-not [IO.Path]::GetFileName($folder).StartsWith("$($tool.id).", [StringComparison]::Ordinal)) { continue }
    if ([string]::Equals((Read-Text ([IO.Path]::Combine($folder, 'path'))).Trim(), $path, [StringComparison]::OrdinalIgnoreCase)) { $record = $folder }
  }
  $isOurs = $record -and (Read-Text $path) -ceq (Read-Text ([IO.Path]::Combine($record, 'after')))
  if ([IO.File]::Exists($path) -and -not $isOurs) {
    Write-Line "  $($tool.name) manual"
    Write-Line "Put these settings into $path ($($file.format)), in place of those that it has, with your API key for YOUR_KEY:"
    foreach ($line in $file.text.Replace('@KEY@', 'YOUR_KEY').Split("`n")) { Write-Line "    $line" }
    return
  }
  Add-Folder ([IO.Path]::GetDirectoryName($path))
  for ($number = 1; -not $record; $number++) {
    $folder = [IO.Path]::Combine($files, "$($tool.id).$number")
    if (-not [IO.Directory]::Exists($folder)) { $record = $folder }
  }
  $wanted = $text + "`n"
  $after = $wanted
  if ($file.format -ceq 'block') { $after = '# >>> ' + $data.slug + " >>>`n" + $wanted + '# <<< ' + $data.slug + " <<<`n" }
  $parts = @{ path = $path; format = $file.format; identity = $file.identity; wanted = $wanted; after = $after; complete = 'yes' }
  $null = [IO.Directory]::CreateDirectory($record)
  foreach ($part in @($parts.Keys)) { Save-Text ([IO.Path]::Combine($record, $part)) $parts[$part] }
  Save-Text $path $after
  Write-Line "  $($tool.name) written $path"
}

function Install-Variable([string] $id, [string] $name, [string] $value) {
  $folder = [IO.Path]::Combine($session.state, "variables\$name")
  $owners = @((Read-Text ([IO.Path]::Combine($folder, 'tools'))).Split(' ') | Where-Object { $_ -and $_ -cne $id }) + $id
  if (-not [IO.Directory]::Exists($folder)) {
    $before = [Environment]::GetEnvironmentVariable($name, [EnvironmentVariableTarget]::User)
    $null = [IO.Directory]::CreateDirectory($folder)
    if ($null -ne $before) { Save-Text ([IO.Path]::Combine($folder, 'before')) $before }
    Save-Text ([IO.Path]::Combine($folder, 'kind')) 'String'
  }
  Save-Text ([IO.Path]::Combine($folder, 'value')) $value
  Save-Text ([IO.Path]::Combine($folder, 'tools')) ($owners -join ' ')
  Write-Variable $name $value 'String'
}

function Read-Text([string] $path) {
  if (-not [IO.File]::Exists($path)) { return '' }
  return $utf8.GetString([IO.File]::ReadAllBytes($path))
}

function Add-Line([string] $name, [string] $line) {
  $path = [IO.Path]::Combine($session.state, $name)
  $lines = @((Read-Text $path).Split("`n") | Where-Object { $_ -and $_ -cne $line }) + $line
  Save-Text $path (($lines -join "`n") + "`n")
}

# Creates a folder and its parents, and records the new ones.
function Add-Folder([string] $path) {
  $missing = @()
  for ($folder = $path; $folder -and -not [IO.Directory]::Exists($folder); $folder = [IO.Path]::GetDirectoryName($folder)) { $missing = @($folder) + $missing }
  $null = [IO.Directory]::CreateDirectory($path)
  foreach ($folder in $missing) { if ([IO.Directory]::Exists($session.state)) { Add-Line 'folders' $folder } }
}

# Undoes files that are still as they were written. Files that were edited since stay and are listed.
function Undo-Records($choices) {
  $files = [IO.Path]::Combine($session.state, 'files')
  if (-not [IO.Directory]::Exists($files)) {
    Write-Line "Nothing of $($data.service) is set up on this computer."
    return 0
  }
  if (-not $choices.isYes) { Confirm-Yes "Take the settings of $($data.service) out again?" }
  $isDone = $true
  foreach ($record in @([IO.Directory]::GetDirectories($files))) { if (-not (Undo-Record $record)) { $isDone = $false } }
  $variables = [IO.Path]::Combine($session.state, 'variables')
  if ([IO.Directory]::Exists($variables)) {
    foreach ($folder in @([IO.Directory]::GetDirectories($variables))) { Undo-Variable $folder }
  }
  if (-not $isDone) { Stop-Setup 'Edit these files by hand, or run this again where Node.js, Bun or Deno is installed.' }
  $folders = @((Read-Text ([IO.Path]::Combine($session.state, 'folders'))).Split("`n") | Where-Object { $_ })
  [IO.Directory]::Delete($session.state, $true)
  [Array]::Reverse($folders)
  foreach ($folder in $folders + [IO.Path]::GetDirectoryName($session.state)) {
    if ([IO.Directory]::Exists($folder) -and @([IO.Directory]::GetFileSystemEntries($folder)).Count -eq 0) { [IO.Directory]::Delete($folder) }
  }
  return 0
}

# Returns false if the file was edited since.
function Undo-Record([string] $record) {
  $path = (Read-Text ([IO.Path]::Combine($record, 'path'))).Trim()
  $before = [IO.Path]::Combine($record, 'before')
  if ([IO.File]::Exists($path) -and (Read-Text $path) -cne (Read-Text ([IO.Path]::Combine($record, 'after')))) {
    Write-Line "  manual $path`: it was changed since; take the settings of $($data.service) out" 'Yellow'
    return $false
  }
  if ([IO.File]::Exists($before)) { [IO.File]::WriteAllBytes($path, [IO.File]::ReadAllBytes($before)) } else { [IO.File]::Delete($path) }
  [IO.Directory]::Delete($record, $true)
  Write-Line "  removed $path"
  return $true
}

function Undo-Variable([string] $folder) {
  $name = [IO.Path]::GetFileName($folder)
  $before = [IO.Path]::Combine($folder, 'before')
  if ([Environment]::GetEnvironmentVariable($name, [EnvironmentVariableTarget]::User) -ceq (Read-Text ([IO.Path]::Combine($folder, 'value')))) {
    if ([IO.File]::Exists($before)) { Write-Variable $name (Read-Text $before) (Read-Text ([IO.Path]::Combine($folder, 'kind'))) } else { Write-Variable $name $null '' }
  }
  [IO.Directory]::Delete($folder, $true)
}
