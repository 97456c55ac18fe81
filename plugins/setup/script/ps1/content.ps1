# Files as they are, byte for byte. A content is a text of one character per byte (Latin-1), and $null for no file, so that
# PowerShell neither guesses an encoding nor takes an array of bytes apart.

$latin1 = [Text.Encoding]::GetEncoding(28591)
$utf8 = New-Object Text.UTF8Encoding $false

function ConvertTo-Content([string] $text) { return $latin1.GetString($utf8.GetBytes($text)) }

function ConvertFrom-Content([string] $content) { return $utf8.GetString($latin1.GetBytes($content)) }

# Operators of PowerShell compare by the rules of a language, which ignore some characters.
function Test-Same($left, $right) {
  if ($null -eq $left -or $null -eq $right) { return ($null -eq $left) -and ($null -eq $right) }
  return [string]::Equals([string] $left, [string] $right, [StringComparison]::Ordinal)
}

# Windows does not distinguish paths by case.
function Test-SamePath([string] $left, [string] $right) {
  return [string]::Equals($left, $right, [StringComparison]::OrdinalIgnoreCase)
}

# $null when there is no such file. A file that a program has open is read all the same.
function Read-Content([string] $path) {
  if (-not [IO.File]::Exists($path)) { return $null }
  $share = [IO.FileShare] 'ReadWrite, Delete'
  $stream = [IO.File]::Open($path, [IO.FileMode]::Open, [IO.FileAccess]::Read, $share)
  try {
    $memory = New-Object IO.MemoryStream
    $stream.CopyTo($memory)
    return $latin1.GetString($memory.ToArray())
  } finally {
    $stream.Dispose()
  }
}

# Puts $content in the place of a file in one step. False, and nothing is changed, when the file is no longer $expected
# ($null: there was none). A failure leaves the file as it was.
function Write-Content([string] $path, $content, $expected, [bool] $isSecret) {
  Assert-CanWrite
  $folder = [IO.Path]::GetDirectoryName($path)
  $temporary = [IO.Path]::Combine($folder, ".$($session.slug)-setup-" + [guid]::NewGuid().ToString('n'))
  try {
    [IO.File]::WriteAllBytes($temporary, $latin1.GetBytes([string] $content))
    if ($isSecret -and $null -eq $expected) { Protect-Path $temporary }
    for ($count = 1; $count -le 4; $count++) {
      if (-not (Test-Same (Read-Content $path) $expected)) { return $false }
      if (Move-Temporary $temporary $path ($null -eq $expected) ($count -eq 4)) { return $true }
      Start-Sleep -Milliseconds 250
    }
  } finally {
    [IO.File]::Delete($temporary)
  }
}

# Removes the temporary files of Write-Content that a run which was killed has left in a folder.
function Remove-Temporaries([string] $folder) {
  Assert-CanWrite
  if (-not [IO.Directory]::Exists($folder)) { return }
  $name = '\A\.' + [regex]::Escape($session.slug) + '-setup-[0-9a-f]{32}\z'
  foreach ($path in [IO.Directory]::GetFiles($folder)) {
    if ([IO.Path]::GetFileName($path) -cnotmatch $name) { continue }
    try { [IO.File]::Delete($path) } catch { Write-Verbose "$path is in use." }
  }
}

# False when a program has one of the files open, unless this was the last attempt: virus scanners open new files for a moment.
function Move-Temporary([string] $temporary, [string] $path, [bool] $isNew, [bool] $isLast) {
  Assert-CanWrite
  try {
    # Replace keeps the permissions of the file. $null would become '' here, which is not a valid path.
    if ($isNew) { [IO.File]::Move($temporary, $path) }
    else { [IO.File]::Replace($temporary, $path, [NullString]::Value, $true) }
    return $true
  } catch {
    if ($isLast -or $_.Exception.GetBaseException() -isnot [IO.IOException]) { throw }
    return $false
  }
}

# As Write-Content, but takes the file away.
function Remove-Content([string] $path, $expected) {
  Assert-CanWrite
  if (-not (Test-Same (Read-Content $path) $expected)) { return $false }
  [IO.File]::Delete($path)
  return $true
}

function Assert-CanWrite {
  if ($session.isDryRun) { Stop-Setup 'Internal error: a dry run was about to write. Nothing was written.' }
}

# A file that somebody has made read-only is not to be changed. To replace one that has several names would part them.
function Assert-Writable([string] $path) {
  if ([IO.Directory]::Exists($path)) { Stop-Tool 'it is a folder' }
  if (-not [IO.File]::Exists($path)) { return }
  $attributes = [IO.File]::GetAttributes($path)
  if (($attributes -band [IO.FileAttributes]::ReadOnly) -ne 0) { Stop-Tool 'it is write-protected' }
  if ((Get-Item -LiteralPath $path -Force).LinkType -ceq 'HardLink') { Stop-Tool 'it has more than one name (hard links)' }
}

# Where the file really is: dotfile repositories link files. Linked folders need nothing.
function Resolve-Link([string] $path) {
  for ($count = 0; $count -lt 40; $count++) {
    $item = Get-Item -LiteralPath $path -Force -ErrorAction SilentlyContinue
    if ($null -eq $item -or $item.LinkType -cne 'SymbolicLink') { return $path }
    $target = ([string] @($item.Target)[0]) -creplace '^\\\?\?\\', ''
    if (-not $target) { Stop-Tool 'its symbolic link cannot be read' }
    $path = [IO.Path]::GetFullPath([IO.Path]::Combine([IO.Path]::GetDirectoryName($path), $target))
  }
  Stop-Tool 'its symbolic links lead in a circle'
}
