# Checks whether the settings of a tool are still there, and whether the gateway answers as the tool needs it (-Verify).

function Test-Setup($options) {
  $saved = Read-Tools 'tools'
  $unsettled = Get-Unsettled $saved
  $tools = @($data.tools | Where-Object { $saved.Contains($_.id) -or $unsettled.Contains($_.id) } |
      Where-Object { $options.tools.Count -eq 0 -or $options.tools -ccontains $_.id })
  if ($tools.Count -eq 0) { Stop-Setup 'No tool is set up on this computer. Run this without -Verify first.' }
  $hasFailed = $false
  foreach ($tool in $tools) {
    if ($unsettled.Contains($tool.id)) {
      $hasFailed = $true
      Write-Verdict $tool.name 'outdated' $unsettled[$tool.id]
      continue
    }
    if (-not $session.key) { Read-VerifyKey $options.keyFile }
    $result = try { Test-Tool $tool $options ([string] $saved[$tool.id]) } catch { New-Problem 'failed' (Get-Reason $_) }
    if ($result.verdict -cne 'works') { $hasFailed = $true }
    Write-Verdict $tool.name $result.verdict $result.details
  }
  if ($hasFailed) { return 1 }
  return 0
}

# The key in the settings precedes the one of a variable, which may be another one.
function Read-VerifyKey([string] $file) {
  $stored = if ($file) { '' } else { Find-StoredKey }
  if ($stored) { Set-Key $stored 'the settings' } else { Read-Key $file }
}

# What keeps tools from having their settings under the present name, by their ids.
function Get-Unsettled($saved) {
  $reasons = @{}
  foreach ($id in @((Read-FormerTools).Keys)) {
    if ($saved.Contains($id)) { continue }
    $reasons[$id] = "it is set up under a former name of $(Get-ServiceName). Run the setup again to update it"
  }
  foreach ($id in @((Read-Tools 'moving').Keys)) {
    $reasons[$id] = 'the last run was interrupted. Run the setup again to complete it'
  }
  return $reasons
}

# Gives verdict (works, failed, manual, outdated) and details.
function Test-Tool($tool, $options, [string] $saved) {
  $wishes = Get-Wishes $tool $options.model $saved
  $changed = @(Get-ChangedFiles $tool.id) + @(Get-ChangedVariables $tool.id)
  if ($changed.Count -gt 0) {
    return New-Problem 'failed' "settings changed: $($changed -join ', '). Run the setup again to restore them"
  }
  $unwritten = @(Get-UnwrittenPaths $tool.id $wishes)
  if ($unwritten.Count -gt 0) {
    $advice = 'paste the settings there, or run the setup again where node or Python 3 is installed'
    return New-Problem 'manual' "$($unwritten -join ', '): $advice"
  }
  # With -Model or -KeyFile, the request answers a question about these.
  if (-not $options.model -and -not $options.keyFile -and (Test-Outdated $tool.id $wishes)) {
    return New-Problem 'outdated' "its settings are not those that $($data.baseUrl) gives now. Run the setup again to update them"
  }
  $asked = Test-Model $tool.format $wishes.model
  if ($asked.problem) { return New-Problem 'failed' $asked.problem }
  $time = ([double] $asked.seconds).ToString('0.0', [Globalization.CultureInfo]::InvariantCulture)
  return @{ verdict = 'works'; details = "$($wishes.model), $time s" }
}

function New-Problem([string] $verdict, [string] $details) { return @{ verdict = $verdict; details = $details } }

# The files of the tool that are not on record, wherever they were then, and do not name this gateway: a person was to paste the
# settings there.
function Get-UnwrittenPaths([string] $id, $wishes) {
  $places = @($wishes.actions | Where-Object { $_.kind -ceq 'place' })
  $known = @(foreach ($name in @(Get-FileRecords $id)) {
      [IO.Path]::GetFileName((ConvertFrom-Content (Read-Record 'files' $name).path))
    })
  foreach ($action in @($wishes.actions | Where-Object { $_.kind -ceq 'file' })) {
    if (-not $action.text.Contains($data.baseUrl)) { continue }
    $path = Get-FilePath $action $places
    if ($known -ccontains [IO.Path]::GetFileName($path)) { continue }
    if (-not ([string] (Read-Content $path)).Contains($data.baseUrl)) { $path }
  }
}

# True when a run would write other settings for the tool than those on record: the catalog, the address or the key is
# another one.
function Test-Outdated([string] $id, $wishes) {
  $files = @($wishes.actions | Where-Object { $_.kind -ceq 'file' })
  $wanted = @(foreach ($action in $files) { Get-Wanted $action $wishes })
  foreach ($name in @(Get-FileRecords $id)) {
    $record = Read-Record 'files' $name
    if (@($wanted | Where-Object { Test-Same $_ $record.wanted }).Count -eq 0) { return $true }
  }
  foreach ($variable in @(Get-Variables $wishes)) {
    if (-not (Test-Same (Read-Variable $variable.name).value $variable.value)) { return $true }
  }
  return $false
}

# Names of settings of the tool that are no longer in its files.
function Get-ChangedFiles([string] $id) {
  foreach ($name in @(Get-FileRecords $id)) { Get-ChangedSettings (Read-Record 'files' $name) }
}

function Get-ChangedVariables([string] $id) {
  foreach ($name in @(Get-RecordNames 'variables')) {
    $record = Read-Record 'variables' $name
    if (@(Get-Owners $record) -cnotcontains $id) { continue }
    if (-not (Test-Same (Read-Variable $name).value (ConvertFrom-Content $record.value))) { "the variable $name" }
  }
}

function Get-ChangedSettings($record) {
  $path = ConvertFrom-Content $record.path
  $current = Read-Content $path
  if (Test-Same $current $record.after) { return }
  if ($null -eq $current) { return "$path is gone" }
  switch -CaseSensitive (ConvertFrom-Content $record.format) {
    'text' { return $path }
    'block' { if (-not (Test-HasBlock $current $record.wanted)) { return "the block in $path" } }
    default { return Get-MissingSettings $path $current $record }
  }
}

# Editors may have changed its line ends.
function Test-HasBlock([string] $current, [string] $wanted) {
  return $current.Replace("`r`n", "`n").Contains((Get-Marker '>>>') + "`n" + $wanted + (Get-Marker '<<<'))
}

# Without node and Python nobody can tell: the request decides.
function Get-MissingSettings([string] $path, $current, $record) {
  Find-Helper
  if ($null -eq $session.helper) { return }
  $plan = @{ format = ConvertFrom-Content $record.format; identity = ConvertFrom-Content $record.identity; at = '-' }
  try { return (Invoke-Helper 'check' $plan @{ current = $current; wanted = $record.wanted }).lines } catch {
    return "$path cannot be read ($(Get-Reason $_))"
  }
}
