# What this script remembers in %LOCALAPPDATA%\<slug>\setup. Only the user can read it:
#   tools                a line for each tool that is set up, with the model when it was named
#   moving               such lines of tools that are being moved from a former name of the service: written before their
#                        former settings go, removed one by one as the new ones are there
#   files\TOOL.NUMBER    a folder for each file: path, format, identity, wanted, before (absent: there was no file), after
#   variables\NAME       a folder for each variable: tools, value, before (absent: it was not set), kind
#   folders              folders that were created
#   backups\TIME         files as they were before each run that changed them

function Get-StatePath([string] $name) { return [IO.Path]::Combine($session.state, $name) }

# Makes the service with this slug the one whose records and markers everything else means.
function Enter-Service([string] $slug) {
  $session.slug = $slug
  $session.stateParent = [IO.Path]::Combine((Get-KnownFolder 'LOCALAPPDATA'), $slug)
  $session.state = [IO.Path]::Combine($session.stateParent, 'setup')
}

# Makes the folder and takes the lock: an open file, which Windows closes when this process ends.
function Open-State {
  if ($session.isDryRun) { return }
  Assert-CanWrite
  try {
    if (-not [IO.Directory]::Exists($session.state)) {
      $null = [IO.Directory]::CreateDirectory($session.state)
      Protect-Path $session.state
    }
  } catch { Stop-Setup "The folder $($session.state) could not be created. $(Get-Reason $_) Nothing was changed." }
  try {
    $session.locks[$session.slug] = New-Object IO.FileStream (Get-StatePath 'lock'), ([IO.FileMode]::OpenOrCreate),
      ([IO.FileAccess]::ReadWrite), ([IO.FileShare]::None), 1, ([IO.FileOptions]::DeleteOnClose)
  } catch {
    if ($_.Exception.GetBaseException() -isnot [IO.IOException]) {
      Stop-Setup "The folder $($session.state) is not writable. $(Get-Reason $_) Nothing was changed."
    }
    Stop-Setup 'Another run is changing the settings. Run this again later. Nothing was changed.'
  }
  Repair-Records
}

function Close-State {
  $session.locks[$session.slug].Dispose()
  $session.locks.Remove($session.slug)
  foreach ($name in 'files', 'variables', 'backups') { Remove-EmptyFolder (Get-StatePath $name) }
  Remove-EmptyFolder $session.state
  Remove-EmptyFolder $session.stateParent
}

function Remove-EmptyFolder([string] $path) {
  if (-not [IO.Directory]::Exists($path)) { return }
  if (@([IO.Directory]::GetFileSystemEntries($path)).Count -gt 0) { return }
  try { [IO.Directory]::Delete($path) } catch { Write-Verbose "$path is in use." }
}

# The lines of a file of the state.
function Read-Lines([string] $name) {
  $content = Read-Content (Get-StatePath $name)
  if ($content) { (ConvertFrom-Content $content) -csplit '\r?\n' | Where-Object { $_ } }
}

function Save-Lines([string] $name, $lines) {
  Assert-CanWrite
  $path = Get-StatePath $name
  if (@($lines).Count -eq 0) { [IO.File]::Delete($path) }
  else { $null = Write-Content $path (ConvertTo-Content ((@($lines) -join "`n") + "`n")) (Read-Content $path) $false }
}

# The tools in the file `tools` or `moving`, as a table of models by id; '' where no model was named.
function Read-Tools([string] $name) {
  $tools = [ordered] @{}
  foreach ($line in @(Read-Lines $name)) {
    $id, $model = $line.Split(' ')
    $tools[$id] = [string] $model
  }
  return $tools
}

function Save-Tools([string] $name, $tools) {
  Save-Lines $name @(foreach ($id in @($tools.Keys)) { "$id $($tools[$id])".TrimEnd() })
}

function Remove-Tool([string] $name, [string] $id) {
  $tools = Read-Tools $name
  if (-not $tools.Contains($id)) { return }
  $tools.Remove($id)
  Save-Tools $name $tools
}

# The tools with any record.
function Get-SetUpTools {
  $ids = @((Read-Tools 'tools').Keys)
  foreach ($name in @(Get-RecordNames 'files')) { $ids += $name -creplace '\.\d+$', '' }
  foreach ($name in @(Get-RecordNames 'variables')) { $ids += @(Get-Owners (Read-Record 'variables' $name)) }
  $ids | Select-Object -Unique
}

# The records of files or variables, by name.
function Get-RecordNames([string] $kind) {
  $folder = Get-StatePath $kind
  if (-not [IO.Directory]::Exists($folder)) { return }
  foreach ($path in [IO.Directory]::GetDirectories($folder)) {
    $name = [IO.Path]::GetFileName($path)
    if ($name -cnotmatch '\.new\z') { $name }
  }
}

# Those of the files of one tool.
function Get-FileRecords([string] $id) {
  foreach ($name in @(Get-RecordNames 'files')) {
    if ($name.StartsWith("$id.", [StringComparison]::Ordinal)) { $name }
  }
}

# A record as a table of contents by the names of its files; $null when there is no record.
function Read-Record([string] $kind, [string] $name) {
  $folder = Get-StatePath "$kind\$name"
  if (-not [IO.Directory]::Exists($folder)) { return $null }
  $record = @{ name = $name }
  foreach ($path in [IO.Directory]::GetFiles($folder)) { $record[[IO.Path]::GetFileName($path)] = Read-Content $path }
  return $record
}

# Writes a record beside the present one, which Complete-Record then replaces: whatever interrupts the script, one of the two
# says what is in the file.
function Save-Record([string] $kind, [string] $name, $parts) {
  Assert-CanWrite
  Remove-Record $kind "$name.new"
  $folder = Get-StatePath "$kind\$name.new"
  $null = [IO.Directory]::CreateDirectory($folder)
  foreach ($part in @($parts.Keys)) {
    if ($part -cne 'name' -and $null -ne $parts[$part]) { Save-Content ([IO.Path]::Combine($folder, $part)) $parts[$part] }
  }
  Save-Content ([IO.Path]::Combine($folder, 'complete')) ''
}

# Tried again, because virus scanners open new files for a moment, and Windows does not rename a folder with an open file.
function Complete-Record([string] $kind, [string] $name) {
  Assert-CanWrite
  for ($count = 1; $count -le 4; $count++) {
    try {
      Remove-Record $kind $name
      [IO.Directory]::Move((Get-StatePath "$kind\$name.new"), (Get-StatePath "$kind\$name"))
      return
    } catch {
      if ($count -eq 4) { throw }
      Start-Sleep -Milliseconds 250
    }
  }
}

function Remove-Record([string] $kind, [string] $name) {
  Assert-CanWrite
  $folder = Get-StatePath "$kind\$name"
  if ([IO.Directory]::Exists($folder)) { [IO.Directory]::Delete($folder, $true) }
}

# After an interrupted run: a new record counts when its change may have been made.
function Repair-Records {
  Remove-Temporaries $session.state
  $files = Get-StatePath 'files'
  if ([IO.Directory]::Exists($files)) {
    foreach ($record in [IO.Directory]::GetDirectories($files)) {
      $path = Read-Content ([IO.Path]::Combine($record, 'path'))
      if ($path) { Remove-Temporaries ([IO.Path]::GetDirectoryName((ConvertFrom-Content $path))) }
    }
  }
  foreach ($kind in 'files', 'variables') {
    $folder = Get-StatePath $kind
    if (-not [IO.Directory]::Exists($folder)) { continue }
    foreach ($path in @([IO.Directory]::GetDirectories($folder, '*.new'))) {
      $name = [IO.Path]::GetFileName($path)
      if (Test-Done $kind (Read-Record $kind $name)) { Complete-Record $kind ($name -creplace '\.new$', '') }
      else { Remove-Record $kind $name }
    }
  }
}

function Test-Done([string] $kind, $record) {
  if ($null -eq $record.complete) { return $false }
  $name = $record.name -creplace '\.new$', ''
  if ($kind -ceq 'variables') { return Test-Same (Read-Variable $name).value (ConvertFrom-Content $record.value) }
  # The tool may have edited its file since it was replaced. Of an old record that was being removed, `after` is missing.
  $old = Read-Record 'files' $name
  return $null -eq $old -or -not (Test-Same (Read-Content (ConvertFrom-Content $record.path)) $old.after)
}

# Creates the folder of a file with all above it, and remembers those that were missing.
function New-ParentFolder([string] $path) {
  Assert-CanWrite
  $missing = @()
  for ($folder = [IO.Path]::GetDirectoryName($path); $folder -and -not [IO.Directory]::Exists($folder);
    $folder = [IO.Path]::GetDirectoryName($folder)) { $missing = @($folder) + $missing }
  if ($missing.Count -eq 0) { return }
  Save-Lines 'folders' (@(Read-Lines 'folders') + $missing)
  $null = [IO.Directory]::CreateDirectory($missing[$missing.Count - 1])
}

# Removes the folders that were created and are empty now, from the innermost. Once nothing is set up, the others are left to
# the user.
function Remove-OwnFolders {
  $folders = @(Read-Lines 'folders')
  [Array]::Reverse($folders)
  foreach ($folder in $folders) { Remove-EmptyFolder $folder }
  [Array]::Reverse($folders)
  if (@(Get-SetUpTools).Count -eq 0) { $folders = @() }
  Save-Lines 'folders' @($folders | Where-Object { [IO.Directory]::Exists($_) })
}

# A copy of a file before it is changed, once in a run.
function Backup-Content([string] $name, [string] $path, $content) {
  if ($null -eq $content) { return }
  Assert-CanWrite
  $folder = Get-StatePath "backups\$($session.time)"
  $null = [IO.Directory]::CreateDirectory($folder)
  $copy = [IO.Path]::Combine($folder, $name + '.' + [IO.Path]::GetFileName($path))
  if (-not [IO.File]::Exists($copy)) { Save-Content $copy $content }
  $session.backups = $folder
}

# Removes the copy of a file that was not changed after all.
function Remove-Backup([string] $name, [string] $path) {
  Assert-CanWrite
  $folder = Get-StatePath "backups\$($session.time)"
  if (-not [IO.Directory]::Exists($folder)) { return }
  [IO.File]::Delete([IO.Path]::Combine($folder, $name + '.' + [IO.Path]::GetFileName($path)))
  Remove-EmptyFolder $folder
  if (-not [IO.Directory]::Exists($folder)) { $session.backups = '' }
}
