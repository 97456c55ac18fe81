# Replaces a file of the user by the planned one in one step, or not at all.

function Save-Plan($plan) {
  try {
    for ($count = 1; $count -le 3; $count++) {
      if ($plan.verdict -ceq 'unchanged') { Save-Unchanged $plan }
      if ($plan.verdict -cne 'written' -or (Set-File $plan)) { return }
      # The tool has written its file since it was read.
      Update-Plan $plan
    }
    Stop-Tool 'it was changed meanwhile'
  } catch {
    Set-Failure $plan $_
    # Once the file has been replaced, the next run completes the record.
    if ($plan.record -and -not $plan.isReplaced) { Undo-Attempt $plan }
  }
}

function Undo-Attempt($plan) {
  try {
    Remove-Record 'files' "$($plan.record).new"
    Remove-Backup $plan.record $plan.path
  } catch { Write-Verbose 'The next run removes the record.' }
}

# False when the file is no longer as it was read. The new record is there before the file is replaced, so that a run that
# ends in between can be completed.
function Set-File($plan) {
  Select-RecordName $plan
  New-ParentFolder $plan.path
  Save-Record 'files' $plan.record (Get-RecordParts $plan)
  Backup-Content $plan.record $plan.path $plan.current
  if (-not (Write-Content $plan.path $plan.after $plan.current $plan.isSecret)) { return $false }
  $plan.isReplaced = $true
  Complete-Record 'files' $plan.record
  return $true
}

# A file that holds our settings already is on record all the same.
function Save-Unchanged($plan) {
  $parts = Get-RecordParts $plan
  $isSame = $null -ne $plan.old
  foreach ($part in 'wanted', 'before', 'after') {
    if ($isSame -and -not (Test-Same $parts[$part] $plan.old[$part])) { $isSame = $false }
  }
  if ($isSame) { return }
  Select-RecordName $plan
  Save-Record 'files' $plan.record $parts
  Complete-Record 'files' $plan.record
}

# A new record gets the next free number of the tool.
function Select-RecordName($plan) {
  for ($number = 1; -not $plan.record; $number++) {
    $name = "$($plan.tool).$number"
    if (-not [IO.Directory]::Exists((Get-StatePath "files\$name"))) { $plan.record = $name }
  }
}

function Get-RecordParts($plan) {
  return @{
    path = ConvertTo-Content $plan.path
    format = ConvertTo-Content $plan.format
    identity = ConvertTo-Content $plan.identity
    wanted = $plan.wanted
    before = $plan.before
    after = $plan.after
  }
}
