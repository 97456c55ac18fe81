# Other gateways whose scripts were run on this computer: each has a folder of records in %LOCALAPPDATA%.

# Refuses to edit a file that another gateway was set up in since. To edit it below the other's settings would mix both, up to
# the address of one with the key of somebody else. Blocks do not mix.
function Assert-Uncovered($record) {
  if ((ConvertFrom-Content $record.format) -ceq 'block') { return }
  $time = [IO.File]::GetLastWriteTimeUtc((Get-StatePath "files\$($record.name)\after"))
  foreach ($folder in @(Get-OtherRecords)) {
    $path = Read-Content ([IO.Path]::Combine($folder, 'path'))
    if ($null -eq $path -or -not (Test-SamePath (ConvertFrom-Content $path) (ConvertFrom-Content $record.path))) { continue }
    # The newer one comes first.
    if ([IO.File]::GetLastWriteTimeUtc([IO.Path]::Combine($folder, 'after')) -le $time) { continue }
    Stop-Tool "`"$(ConvertTo-Printable (Get-RecordOwner $folder))`" was set up in it later; take that out first"
  }
}

# The folders of all records of files, except those of this gateway.
function Get-OtherRecords {
  foreach ($parent in [IO.Directory]::GetDirectories((Get-KnownFolder 'LOCALAPPDATA'))) {
    if (Test-SamePath $parent $session.stateParent) { continue }
    $files = [IO.Path]::Combine($parent, 'setup\files')
    if ([IO.Directory]::Exists($files)) { [IO.Directory]::GetDirectories($files) }
  }
}

# The name of the gateway in SLUG\setup\files\TOOL.NUMBER.
function Get-RecordOwner([string] $folder) {
  for ($count = 1; $count -le 3; $count++) { $folder = [IO.Path]::GetDirectoryName($folder) }
  return [IO.Path]::GetFileName($folder)
}
