# Sets tools up: computes what would change, shows it, asks, and writes.

function Install-Setup($options) {
  $former = Read-FormerTools
  $saved = Read-SavedTools $former
  $tools = @(Select-Tools $options $saved)
  if ($tools.Count -eq 0) {
    Stop-Setup "No tool was found on this computer. Name one: -Tools $($data.tools[0].id)."
  }
  Initialize-Key $options
  Open-State
  $jobs = @(New-Jobs $tools $options.model $saved)
  $moved = @(Get-MovedTools $jobs $former)
  if (-not $options.isDryRun) { Request-Consent $options $jobs $moved }
  $isMoved = $true
  if ($moved.Count -gt 0) {
    $isMoved = Move-FormerTools $moved $saved
    $jobs = @(New-Jobs $tools $options.model $saved)
  }
  if ($options.isDryRun) {
    if ($moved.Count -gt 0) {
      Write-Line ''
      Write-Line 'Then:'
    }
    return Complete-DryRun $jobs
  }
  foreach ($job in $jobs) { Save-Job $job $options.model $saved }
  Write-Line ''
  foreach ($job in $jobs) { Write-Job $job 'written' }
  Write-Endings $jobs
  if (-not $isMoved) { return 1 }
  return Get-ExitCode $jobs
}

# The tools that can be set up and are set up under a former name.
function Get-MovedTools($jobs, $former) {
  foreach ($job in $jobs) {
    if ($job.verdict -in 'skipped', 'failed') { continue }
    if ($former.Contains($job.tool.id)) { $job.tool.id }
  }
}

# Those of -Tools, or else the tools of this computer and those set up before.
function Select-Tools($options, $saved) {
  foreach ($tool in $data.tools) {
    if ($options.tools.Count -gt 0) { $isWanted = $options.tools -ccontains $tool.id }
    else { $isWanted = $saved.Contains($tool.id) -or (-not $tool.isOnRequest -and (Test-Found $tool)) }
    if ($isWanted) { $tool }
  }
}

# Without writing anything, a key is not needed: that of the last run shows what would change, or else a placeholder.
function Initialize-Key($options) {
  if ($options.isDryRun -and -not $options.keyFile -and -not (Find-KeyVariable)) {
    $session.key = Find-StoredKey
    if (-not $session.key) { $session.key = 'YOUR_KEY' }
    return
  }
  if (-not $options.isDryRun -and -not $options.isYes) { Assert-Terminal }
  Read-Key $options.keyFile
  Confirm-Key $options.keyFile
  if ($options.model) { Confirm-Model $options.model }
}

# The model of -Model may be missing from the models of this key.
function Confirm-Model([string] $model) {
  $answer = Invoke-Gateway 'GET' '/v1/models'
  if ($answer.failure -or $answer.status -ne 200) { return }
  if (-not $answer.body.Contains("`"$model`"")) {
    Stop-Setup "Your key cannot use the model `"$model`". Nothing was changed; choose another one with -Model."
  }
}

function New-Jobs($tools, [string] $model, $saved) {
  foreach ($tool in $tools) { New-Job $tool $model ([string] $saved[$tool.id]) }
}

# What is to be done for one tool: wishes, plans of its files, its variables, and the verdict for all of them.
function New-Job($tool, [string] $model, [string] $saved) {
  $job = @{ tool = $tool; plans = @(); variables = @(); verdict = ''; reason = ''; leftVariables = @() }
  if (-not (Test-HasWindowsPaths $tool)) {
    $job.verdict = 'skipped'
    $job.reason = 'the folder of its settings on Windows is not known; set it up by hand'
    return $job
  }
  try {
    $job.wishes = Get-Wishes $tool $model $saved
    $files = @($job.wishes.actions | Where-Object { $_.kind -ceq 'file' })
    $job.plans = @(foreach ($action in $files) { New-Plan $tool $action $job.wishes })
    $job.variables = @(Get-Variables $job.wishes)
    $job.isVariableNew = @($job.variables | Where-Object { -not (Test-VariableSet $_ $tool.id) }).Count -gt 0
    Set-JobVerdict $job
  } catch { Set-Failure $job $_ }
  return $job
}

# The most serious verdict of its files.
function Set-JobVerdict($job) {
  $job.verdict = if ($job.isVariableNew) { 'written' } else { 'unchanged' }
  foreach ($verdict in 'written', 'manual', 'failed') {
    $found = @($job.plans | Where-Object { $_.verdict -ceq $verdict })
    if ($found.Count -eq 0) { continue }
    $job.verdict = $verdict
    $job.reason = [string] $found[0].reason
  }
}

# $word stands for `written`.
function Write-Job($job, [string] $word) {
  $details = @()
  foreach ($plan in $job.plans) {
    $reason = if ($plan.reason) { ": $($plan.reason)" } else { '' }
    $left = if (@($plan.left).Count -gt 0) { " (changed since, and left alone: $(@($plan.left) -join ' '))" } else { '' }
    $details += "$($plan.shown)$reason$left"
  }
  if ($job.variables.Count -gt 0) {
    $details += 'variables ' + (@($job.variables | ForEach-Object { $_.name }) -join ', ')
  }
  if ($details.Count -eq 0 -and $job.reason) { $details += $job.reason }
  $verdict = if ($job.verdict -ceq 'written') { $word } else { $job.verdict }
  Write-Verdict $job.tool.name $verdict ($details -join ', ')
}

function Write-Verdict([string] $name, [string] $verdict, [string] $details) {
  $colour = switch -CaseSensitive ($verdict) {
    { $_ -in 'written', 'change', 'restored', 'removed', 'works' } { 'Green' }
    'failed' { 'Red' }
    { $_ -in 'manual', 'skipped', 'cleaned', 'gone', 'outdated' } { 'Yellow' }
    default { '' }
  }
  $line = ConvertTo-Printable ('  {0,-20} {1,-10} {2}' -f $name, $verdict, $details)
  Write-Line ($line.TrimEnd()) $colour
}

function Complete-DryRun($jobs) {
  foreach ($job in $jobs) { Write-Job $job 'change' }
  foreach ($job in $jobs) {
    foreach ($plan in @($job.plans | Where-Object { $_.verdict -ceq 'written' })) {
      Write-Line ''
      Show-Difference $plan.path $plan.current $plan.after
    }
    foreach ($variable in $job.variables) {
      if (-not (Test-VariableSet $variable $job.tool.id)) {
        Write-Line (Hide-Secrets "+ variable $($variable.name) = $($variable.value)").text 'Green'
      }
    }
  }
  Write-Pastes $jobs
  Write-DryRunEnd
  return Get-ExitCode $jobs
}

function Write-DryRunEnd {
  Write-Line ''
  Write-Line 'Nothing was changed, because this was a dry run.'
}

function Assert-Terminal {
  if (Test-Terminal) { return }
  Stop-Setup 'Nobody can be asked for confirmation here. Pass -Yes to go on without it.'
}

function Request-Consent($options, $jobs, $moved) {
  if ($options.isYes) { return }
  Write-Line ''
  Write-Line "Settings for $(Get-ServiceName) ($($data.baseUrl)):"
  Write-Line ''
  foreach ($job in $jobs) { Write-Job $job 'change' }
  if ($moved.Count -gt 0) {
    Write-Line ''
    Write-Line "What was set up under a former name of $(Get-ServiceName) is taken out first."
  } elseif (@($jobs | Where-Object { $_.verdict -in 'written', 'manual' }).Count -eq 0) { return }
  Write-Line ''
  Write-Line "Files that exist are copied to $(Get-StatePath 'backups') first."
  if (-not (Confirm-Yes 'Write these settings?')) { Stop-Setup 'Nothing was changed.' }
}

# Writes the files of the tool, then its variables, and puts it on record. A tool whose files cannot all be written is not
# counted as set up.
function Save-Job($job, [string] $model, $saved) {
  if ($job.verdict -in 'skipped', 'failed') { return }
  foreach ($plan in $job.plans) {
    Save-Plan $plan
    if ($plan.verdict -ceq 'failed') {
      Set-JobVerdict $job
      return
    }
  }
  try {
    $id = [string] $job.tool.id
    $job.leftVariables = @(Clear-Variables $id @($job.variables | ForEach-Object { $_.name }))
    foreach ($variable in $job.variables) {
      if (Set-UserVariable $variable $id) { $session.hasNewVariables = $true }
    }
    Set-JobVerdict $job
    $tools = Read-Tools 'tools'
    $tools[$id] = if ($model) { $model } else { [string] $saved[$id] }
    Save-Tools 'tools' $tools
    Remove-Tool 'moving' $id
  } catch { Set-Failure $job $_ }
}

# What is worth knowing once everything is written.
function Write-Endings($jobs) {
  Write-Pastes $jobs
  $done = @($jobs | Where-Object { $_.verdict -in 'written', 'unchanged' })
  Write-Line ''
  foreach ($job in $done) {
    foreach ($action in @($job.wishes.actions | Where-Object { $_.kind -ceq 'note' })) {
      Write-Line (ConvertTo-Printable "$($job.tool.name): $(Expand-Text $action.text $job.wishes.fill)")
    }
  }
  foreach ($name in @($jobs | ForEach-Object { $_.leftVariables } | Where-Object { $_ })) { Write-Warn "$name was changed since, and left alone." }
  if ($session.hasNewVariables) { Write-Line 'Programs that are open already see the new variables after a restart.' }
  if ($session.backups) { Write-Line "Copies of the files from before: $($session.backups)" }
  if ($done.Count -eq 0) { return }
  $starts = @($done | ForEach-Object { $_.tool.start } | Where-Object { $_ })
  if ($starts.Count -gt 0) { Write-Line "Next: $($starts -join ', ')" }
  Write-Line "To test each tool: & ([scriptblock]::Create((irm $($data.baseUrl)/setup.ps1))) -Verify"
  Write-Line "To take the settings out again: & ([scriptblock]::Create((irm $($data.baseUrl)/setup.ps1))) -Undo"
}

function Write-Pastes($jobs) {
  foreach ($job in $jobs) {
    foreach ($plan in @($job.plans | Where-Object { $_.verdict -ceq 'manual' })) {
      Write-Line ''
      Write-Line ("Put these settings into $($plan.shown) ($($plan.format)), in place of those that it has, " +
        'with your API key for YOUR_KEY:')
      foreach ($line in $plan.paste.Split("`n")) { Write-Line "    $line" }
    }
  }
}

function Get-ExitCode($jobs) {
  if (@($jobs | Where-Object { $_.verdict -ceq 'failed' }).Count -gt 0) { return 1 }
  return 0
}
