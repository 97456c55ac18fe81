# The arguments. They are read here and not by PowerShell: `irm URL | iex` has none, and a parameter block there would
# leave its variables in the user's session.

function Get-Usage {
  $url = "$($data.baseUrl)/setup.ps1"
  return @(
    "Sets up the tools on this computer for $($data.service), and takes the settings back."
    ''
    "  irm $url | iex"
    "  & ([scriptblock]::Create((irm $url))) -Tools codex -DryRun"
    ''
    '  -Tools a,b      Only these tools; see -List.'
    '  -List           Show the tools, and which of them were found here.'
    '  -Yes            Do not ask before anything is written.'
    '  -Model NAME     Use this model.'
    '  -DryRun         Show the differences; write nothing.'
    '  -Undo           Take the settings back.'
    '  -Verify         Send one request for each tool that is set up.'
    "  -KeyFile FILE   Read the key from a file. Otherwise it comes from $($data.keyVariable), or is asked for."
    '  -Help           Show this text.'
  )
}

# Gives mode (set, list, undo, verify, help), tools, model, keyFile, isYes and isDryRun.
function Read-Options($given) {
  $options = @{ mode = 'set'; tools = @(); model = ''; keyFile = ''; isYes = $false; isDryRun = $false }
  $words = @()
  if ($null -ne $given) { $words = @($given) }
  Assert-NoKey $words
  for ($index = 0; $index -lt $words.Count; $index++) {
    $word = [string] $words[$index]
    if ($word -cnotmatch '\A-') { Stop-Setup "Unknown argument: $(ConvertTo-Printable $word). See -Help." 2 }
    $value = if ($index + 1 -lt $words.Count) { $words[$index + 1] } else { $null }
    # --dry-run is the same as -DryRun. A colon is part of the name in `-Model:NAME`.
    switch (($word -creplace '^--?(?=[A-Za-z])|(?<=[A-Za-z])-|:$', '').ToLowerInvariant()) {
      'tools' {
        $options.tools = @(Split-Tools (Assert-Value $word $value))
        $options.hasTools = $true
        $index++
      }
      'model' { $options.model = [string] (Assert-Value $word $value); $index++ }
      'keyfile' { $options.keyFile = [string] (Assert-Value $word $value); $index++ }
      'list' { Set-Mode $options 'list' }
      'undo' { Set-Mode $options 'undo' }
      'verify' { Set-Mode $options 'verify' }
      { $_ -in 'help', 'h', '?' } { $options.mode = 'help' }
      { $_ -in 'yes', 'y' } { $options.isYes = $true }
      'dryrun' { $options.isDryRun = $true }
      default { Stop-Setup "Unknown argument: $(ConvertTo-Printable $word). See -Help." 2 }
    }
  }
  Assert-Options $options
  return $options
}

# Messages that repeat an argument would show a key that is in it.
function Assert-NoKey($words) {
  $pattern = [regex]::Escape($data.keyPrefix) + '[-_][A-Za-z0-9]{40,}|\A--?[Kk]ey(:|=|\z)'
  foreach ($word in $words) {
    if ((@($word) -join ',') -cnotmatch $pattern) { continue }
    Stop-Setup "Other users of this computer can read the arguments of a program. Set $($data.keyVariable), or pass -KeyFile FILE." 2
  }
}

function Assert-Value([string] $word, $value) {
  if ($null -eq $value -or ([string] $value) -cmatch '\A(-|\z)') {
    Stop-Setup "$word needs a value. See -Help." 2
  }
  return $value
}

function Set-Mode($options, [string] $mode) {
  if ($options.mode -cne 'set' -and $options.mode -cne $mode) {
    Stop-Setup "-$($options.mode) and -$mode cannot be used together. See -Help." 2
  }
  $options.mode = $mode
}

# PowerShell makes a list of `a,b`; a file run by another program gets the text.
function Split-Tools($value) {
  foreach ($part in @($value)) {
    foreach ($id in ([string] $part).Split(',')) {
      if ($id.Trim()) { $id.Trim().ToLowerInvariant() }
    }
  }
}

function Assert-Options($options) {
  if ($options.hasTools -and $options.tools.Count -eq 0) { Stop-Setup '-Tools needs the name of a tool. See -Help.' 2 }
  foreach ($id in $options.tools) {
    if (-not (Get-Tool $id)) { Stop-Setup "Unknown tool: $(ConvertTo-Printable $id). See -List." 2 }
  }
  if (-not $options.model) { return }
  # As in requests, the name may lack the prefix.
  $public = "$($data.keyPrefix)/$($options.model)"
  if (-not (Find-Model $options.model) -and (Find-Model $public)) { $options.model = $public }
  $known = @($data.models | Where-Object { $_.name -ceq $options.model })
  if ($known.Count -eq 0) {
    $names = ($data.models | ForEach-Object { $_.name }) -join ', '
    Stop-Setup "Model not found: $(ConvertTo-Printable $options.model). The models are: $names." 2
  }
}
