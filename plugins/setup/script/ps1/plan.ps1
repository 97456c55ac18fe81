# What each file of a tool shall become. A plan is a table: tool, format, path, identity, at, isSecret; wanted, current, after
# and before (contents); record (its name), isOurs, and verdict with reason and left:
#   written, unchanged, manual (a person must paste the settings), failed
# Nothing outside of the temporary folder is written here.

# As the helper takes them: members that identify an entry; behind a semicolon those that stay where a file has them.
function Join-Members($action) {
  $members = if ($action.identity) { $action.identity -join ',' } else { '-' }
  if ($action.initial) { $members += ';' + ($action.initial -join ',') }
  return $members
}

function New-Plan($tool, $action, $wishes) {
  $plan = @{
    tool = $tool.id
    format = $action.format
    path = ''
    shown = [string] $action.windows
    verdict = ''
    reason = ''
    left = @()
    identity = Join-Members $action
    at = if ($action.at) { $action.at } else { '-' }
    isSecret = $action.text.Contains('@KEY@')
    wanted = Get-Wanted $action $wishes
  }
  $shownFill = $wishes.fill.Clone()
  $shownFill.KEY = 'YOUR_KEY'
  $plan.paste = Expand-Text $action.text $shownFill
  $places = @($wishes.actions | Where-Object { $_.kind -ceq 'place' })
  try {
    $plan.path = Get-FilePath $action $places
    $plan.shown = $plan.path
    Update-Plan $plan
  } catch { Set-Failure $plan $_ }
  return $plan
}

# The content that holds the settings of the action and nothing else.
function Get-Wanted($action, $wishes) { return ConvertTo-Content ((Expand-Text $action.text $wishes.fill) + "`n") }

# Failures of one file concern its tool only; wrong arguments and the like end the script.
function Set-Failure($plan, $failure) {
  if ($failure.Exception.Data.Contains('setup_code')) { throw $failure }
  $plan.verdict = 'failed'
  $plan.reason = (Get-Reason $failure).TrimEnd('.')
}

# Computes the plan from the file as it is now.
function Update-Plan($plan) {
  $plan.verdict = ''
  $plan.reason = ''
  $plan.left = @()
  Assert-Writable $plan.path
  # As if the changes that a dry run has shown were made.
  $isPretended = $session.pretended.Contains($plan.path)
  $plan.current = if ($isPretended) { $session.pretended[$plan.path] } else { Read-Content $plan.path }
  $record = Find-Record $plan
  if ($record -and (ConvertFrom-Content $record.format) -cne $plan.format) {
    Stop-Tool 'it was set up in another way by an earlier version; run -Undo for this tool first'
  }
  $plan.old = $record
  $plan.before = if ($record) { $record.before } else { $null }
  $plan.isOurs = $record -and $null -ne $plan.current -and (Test-Same $plan.current $record.after)
  if ($record -and $null -ne $plan.current -and -not $plan.isOurs) { Assert-Uncovered $record }
  switch -CaseSensitive ($plan.format) {
    'text' { Update-Text $plan }
    'block' { Update-Block $plan }
    default { Update-Settings $plan }
  }
  if ($plan.verdict) { return }
  $plan.verdict = if (Test-Same $plan.current $plan.after) { 'unchanged' } else { 'written' }
}

# The record of the file among those of the tool.
function Find-Record($plan) {
  $plan.record = ''
  foreach ($name in @(Get-FileRecords $plan.tool)) {
    $record = Read-Record 'files' $name
    if (Test-SamePath (ConvertFrom-Content $record.path) $plan.path) {
      $plan.record = $name
      return $record
    }
  }
  return $null
}

# The whole file is ours; what stood there comes back by -Undo.
function Update-Text($plan) {
  $plan.after = $plan.wanted
  if (-not $plan.isOurs) { $plan.before = $plan.current }
}

function Update-Block($plan) {
  $block = Split-Block ([string] $plan.current)
  $plan.after = Add-Block $block $plan.wanted
  if ($plan.isOurs) { return }
  # What the user has added to the file since belongs to it.
  $clean = Remove-Block $block $plan.before
  $hasRest = $null -ne $plan.current -and ($clean -or -not $block.isFound -or $null -ne $plan.before)
  $plan.before = if ($hasRest) { $clean } else { $null }
}

# Settings that are to be merged. Nothing or everything can be replaced here; the rest takes the helper.
function Update-Settings($plan) {
  if ($plan.isOurs -and (Test-Same $plan.wanted $plan.old.wanted)) {
    $plan.after = $plan.current
  } elseif ($plan.isOurs -and -not ([string] $plan.before).Trim()) {
    $plan.after = $plan.wanted
  } elseif (-not ([string] $plan.current).Trim()) {
    $plan.after = $plan.wanted
    $plan.before = $plan.current
  } else {
    Update-Merged $plan
  }
}

function Update-Merged($plan) {
  Find-Helper
  if ($null -eq $session.helper) {
    $plan.verdict = 'manual'
    $plan.reason = 'neither node nor Python 3 is here to merge the settings'
    return
  }
  $previous = if ($plan.old) { $plan.old.wanted } else { $null }
  $contents = @{ current = $plan.current; wanted = $plan.wanted; previous = $previous; before = $plan.before }
  $edit = Invoke-Helper 'apply' $plan $contents
  $plan.after = $edit.after
  $plan.before = $edit.before
  $plan.left = $edit.lines
  if ($null -eq $plan.after) { Stop-Tool 'the editing helper wrote no file' }
}
