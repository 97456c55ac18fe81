# Takes the settings out of the files of tools, then the variables, then the records (-Undo).

# The settings under the present name come first: where both are in a file, they are the later ones.
function Undo-Setup($options) {
  $slugs = @($data.slug) + @($data.formerSlugs)
  $ids = @(foreach ($slug in $slugs) {
      Enter-Service $slug
      # First, because it completes what an interrupted run has left.
      if ([IO.Directory]::Exists($session.state)) { Open-State }
      Get-UndoneTools $options.tools
    })
  if ($ids.Count -gt 0 -and -not $options.isDryRun -and -not $options.isYes) { Confirm-Undo $ids }
  $isDone = $true
  foreach ($slug in $slugs) {
    Enter-Service $slug
    if (-not (Undo-Service $options.tools)) { $isDone = $false }
  }
  if ($ids.Count -eq 0) { Write-Line "Nothing of $(Get-ServiceName) is set up on this computer." }
  elseif ($options.isDryRun) { Write-DryRunEnd }
  if ($isDone) { return 0 }
  return 1
}

function Confirm-Undo($ids) {
  Assert-Terminal
  $names = @($ids | Select-Object -Unique | ForEach-Object { Get-ToolName $_ })
  Write-Line "The settings of $(Get-ServiceName) will be taken out of: $($names -join ', ')"
  if (-not (Confirm-Yes 'Continue?')) { Stop-Setup 'Nothing was changed.' }
}

# Undoes what is set up under the name that Enter-Service has chosen, as far as it is among $only, or all of it. False when
# something could not be undone.
function Undo-Service($only) {
  if (-not [IO.Directory]::Exists($session.state)) { return $true }
  $isDone = $true
  foreach ($id in @(Get-UndoneTools $only)) {
    if (-not (Undo-Tool $id)) { $isDone = $false }
  }
  if ($session.isDryRun) { return $isDone }
  foreach ($id in @((Read-Tools 'moving').Keys)) {
    if (@($only).Count -eq 0 -or $only -ccontains $id) { Remove-Tool 'moving' $id }
  }
  Remove-OwnFolders
  Remove-Backups
  return $isDone
}

# The tools with any record, as far as they are among $only, or all of them.
function Get-UndoneTools($only) {
  Get-SetUpTools | Where-Object { @($only).Count -eq 0 -or $only -ccontains $_ }
}

function Get-ToolName([string] $id) {
  $tool = Get-Tool $id
  if ($tool) { return [string] $tool.name }
  return $id
}

# False when something of the tool could not be undone. The last file comes first: a later one may refer to an earlier one.
function Undo-Tool([string] $id) {
  $isDone = $true
  $numbers = @(Get-FileRecords $id | ForEach-Object { [int] $_.Substring($id.Length + 1) } | Sort-Object -Descending)
  foreach ($number in $numbers) {
    $way = Undo-File (Read-Record 'files' "$id.$number")
    Write-Verdict (Get-ToolName $id) $way.verdict "$($way.path)$(Format-Reason $way)"
    if ($way.verdict -in 'failed', 'manual') { $isDone = $false }
  }
  if ($session.isDryRun -or -not $isDone) { return $isDone }
  foreach ($name in @(Clear-Variables $id @())) {
    Write-Verdict (Get-ToolName $id) 'cleaned' "$name was changed since, and left alone"
  }
  Remove-Tool 'tools' $id
  if ($numbers.Count -eq 0) { Write-Forgotten $id }
  return $true
}

# A tool without records of files has variables only, or a person has pasted its settings.
function Write-Forgotten([string] $id) {
  $pasted = @(Get-PastedPaths $id)
  if ($pasted.Count -eq 0) { Write-Verdict (Get-ToolName $id) 'removed' '' }
  else { Write-Verdict (Get-ToolName $id) 'manual' "$($pasted -join ', '): take out what you pasted there" }
}

# The files of the tool that name this gateway.
function Get-PastedPaths([string] $id) {
  $tool = Get-Tool $id
  if ($null -eq $tool) { return }
  $actions = $tool.variants[0].actions
  $places = @($actions | Where-Object { $_.kind -ceq 'place' })
  foreach ($action in @($actions | Where-Object { $_.kind -ceq 'file' -and $_.windows })) {
    try {
      $path = Get-FilePath $action $places
      if (([string] (Read-Content $path)).Contains($data.baseUrl)) { $path }
    } catch { Write-Verbose 'What cannot be read names nothing.' }
  }
}

function Format-Reason($way) {
  if (@($way.left).Count -gt 0) { return " (changed since, and left alone: $(@($way.left) -join ' '))" }
  if ($way.reason) { return " ($($way.reason))" }
  return ''
}

# Does what Find-WayBack found for the record, anew when the file changes meanwhile.
function Undo-File($record) {
  $way = @{ path = ConvertFrom-Content $record.path; verdict = ''; reason = ''; left = @(); after = $null }
  try {
    for ($count = 1; $count -le 3; $count++) {
      Find-WayBack $way $record
      if ($session.isDryRun) {
        if ($way.verdict -in 'restored', 'removed', 'cleaned') {
          Show-Difference $way.path $way.current $way.after
          $session.pretended[$way.path] = $way.after
        }
        return $way
      }
      if (Set-WayBack $way) { break }
      if ($count -eq 3) { Stop-Tool 'it was changed meanwhile' }
    }
    if ($way.verdict -ceq 'manual') { return $way }
    if ($way.verdict -in 'cleaned', 'gone') { Save-Content (Get-StatePath 'inexact') '' }
    Remove-Record 'files' $record.name
  } catch { Set-Failure $way $_ }
  return $way
}

# Sets verdict and after:
#   restored   the file gets the bytes that it had before      removed   it did not exist before and goes away
#   cleaned    our settings are taken out; other changes since then stay; left names settings that stay as well
#   gone       it was deleted meanwhile, or stays as it is     manual    nothing here can take the settings out
function Find-WayBack($way, $record) {
  $way.left = @()
  $way.reason = ''
  $way.current = Read-Content $way.path
  $way.after = $record.before
  if ($null -eq $way.current) {
    if ($null -eq $record.before) { $way.verdict = 'unchanged' } else {
      $way.verdict = 'gone'
      $way.reason = 'it was deleted or moved meanwhile'
    }
    return
  }
  Assert-Writable $way.path
  if ((Test-Same $way.current $record.after) -or (Test-Same $way.current $record.before)) {
    $way.verdict = if ($null -eq $record.before) { 'removed' } else { 'restored' }
    return
  }
  Assert-Uncovered $record
  switch -CaseSensitive (ConvertFrom-Content $record.format) {
    'text' {
      $way.verdict = 'gone'
      $way.reason = 'its text was changed meanwhile and stays'
    }
    'block' { Find-WithoutBlock $way $record }
    default { Find-WithoutSettings $way $record }
  }
}

function Find-WithoutBlock($way, $record) {
  $clean = Remove-Block (Split-Block $way.current) $record.before
  $way.after = if ($clean -or $null -ne $record.before) { $clean } else { $null }
  Set-UndoVerdict $way $record
}

function Find-WithoutSettings($way, $record) {
  Find-Helper
  if ($null -eq $session.helper) {
    $way.verdict = 'manual'
    $way.reason = 'neither node nor Python 3 is here to take the settings out'
    return
  }
  $plan = @{ format = ConvertFrom-Content $record.format; identity = ConvertFrom-Content $record.identity; at = '-' }
  $edit = Invoke-Helper 'remove' $plan @{ current = $way.current; previous = $record.wanted; before = $record.before }
  $way.after = $edit.after
  $way.left = $edit.lines
  Set-UndoVerdict $way $record
}

function Set-UndoVerdict($way, $record) {
  $way.verdict = 'cleaned'
  if ($null -eq $way.after) { $way.verdict = 'removed' }
  elseif (Test-Same $way.after $record.before) { $way.verdict = 'restored' }
}

# False when the file is no longer as it was read.
function Set-WayBack($way) {
  switch -CaseSensitive ($way.verdict) {
    'removed' { return Remove-Content $way.path $way.current }
    { $_ -in 'restored', 'cleaned' } {
      if (Test-Same $way.current $way.after) { return $true }
      return Write-Content $way.path $way.after $way.current $false
    }
  }
  return $true
}

# Copies of the files from before are needed only where not every byte came back.
function Remove-Backups {
  if (@(Get-RecordNames 'files').Count -gt 0) { return }
  $folder = Get-StatePath 'backups'
  if ([IO.File]::Exists((Get-StatePath 'inexact')) -and [IO.Directory]::Exists($folder)) {
    Write-Line "Copies of the files from before: $folder"
    return
  }
  [IO.File]::Delete((Get-StatePath 'inexact'))
  if ([IO.Directory]::Exists($folder)) { [IO.Directory]::Delete($folder, $true) }
}
