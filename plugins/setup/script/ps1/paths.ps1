# Where the files of tools are on this computer.

function Get-Home {
  if ($env:USERPROFILE) { return $env:USERPROFILE.TrimEnd('\') }
  return [Environment]::GetFolderPath('UserProfile').TrimEnd('\')
}

function Get-KnownFolder([string] $variable) {
  $named = [Environment]::GetEnvironmentVariable($variable)
  if ($named) { return $named.TrimEnd('\') }
  $special = if ($variable -ceq 'APPDATA') { 'ApplicationData' } else { 'LocalApplicationData' }
  return [Environment]::GetFolderPath($special).TrimEnd('\')
}

# The full path of `~/.config/x`, `%USERPROFILE%\.config\x` or `%APPDATA%\x`.
function Expand-Place([string] $place) {
  $path = $place.Replace('/', '\')
  if ($path -cmatch '\A~(\\|\z)') { $path = '%USERPROFILE%' + $path.Substring(1) }
  $config = '%USERPROFILE%\.config\'
  if ($path.StartsWith($config, [StringComparison]::OrdinalIgnoreCase) -and $env:XDG_CONFIG_HOME) {
    return [IO.Path]::Combine($env:XDG_CONFIG_HOME.Replace('/', '\'), $path.Substring($config.Length))
  }
  return $path.Replace('%USERPROFILE%', (Get-Home)).Replace('%APPDATA%', (Get-KnownFolder 'APPDATA')).Replace(
    '%LOCALAPPDATA%', (Get-KnownFolder 'LOCALAPPDATA'))
}

# The path of a file action; $places are the actions that name a variable which moves a folder.
function Get-FilePath($action, $places) {
  $path = Expand-Place $action.windows
  foreach ($place in $places) {
    $value = [Environment]::GetEnvironmentVariable($place.variable)
    $folder = (Expand-Place $place.folder) + '\'
    if ($value -and $path.StartsWith($folder, [StringComparison]::OrdinalIgnoreCase)) {
      $path = [IO.Path]::Combine($value.Replace('/', '\'), $path.Substring($folder.Length))
    }
  }
  if (-not [IO.Path]::IsPathRooted($path)) { Stop-Tool "its folder is not an absolute path: $path" }
  return Resolve-Link (Select-Existing ([IO.Path]::GetFullPath($path)) $action.path)
}

# `a|b` as the path elsewhere: the first name that exists in the folder, or else the last one.
function Select-Existing([string] $path, [string] $alternatives) {
  $folder = [IO.Path]::GetDirectoryName($path)
  foreach ($alternative in ($alternatives -csplit '\|')) {
    $other = [IO.Path]::Combine($folder, ($alternative -csplit '/')[-1])
    if ($alternatives.Contains('|') -and [IO.File]::Exists($other)) { return $other }
  }
  return $path
}

function Get-Tool([string] $id) {
  foreach ($tool in $data.tools) {
    if ($tool.id -ceq $id) { return $tool }
  }
}

# False when a file of the tool has no known path on Windows.
function Test-HasWindowsPaths($tool) {
  foreach ($action in $tool.variants[0].actions) {
    if ($action.kind -ceq 'file' -and -not $action.windows) { return $false }
  }
  return $true
}

# True when a program of the tool is on the path, or one of its folders is there.
function Test-Found($tool) {
  foreach ($command in $tool.commands) {
    $found = @(Get-Command -Name $command -CommandType 'Application', 'ExternalScript' -ErrorAction SilentlyContinue)
    if ($found.Count -gt 0) { return $true }
  }
  foreach ($folder in @(Get-ToolFolders $tool)) {
    if ([IO.Directory]::Exists($folder)) { return $true }
  }
  return $false
}

# Its folders, and those of its files that are not directly in the home folder.
function Get-ToolFolders($tool) {
  foreach ($folder in $tool.folders) { Expand-Place $folder }
  foreach ($action in $tool.variants[0].actions) {
    if ($action.kind -cne 'file' -or -not $action.windows) { continue }
    $folder = [IO.Path]::GetDirectoryName((Expand-Place $action.windows))
    if (-not (Test-SamePath $folder (Get-Home))) { $folder }
  }
}
