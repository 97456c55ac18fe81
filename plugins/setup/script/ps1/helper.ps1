# The program that edits JSON, TOML and YAML. This script carries it twice: for node, and for Python.

# Sets $session.helper: file and arguments that start it; $null when neither node nor Python is here.
function Find-Helper {
  if ($session.helperSought) { return }
  $session.helperSought = $true
  foreach ($file in @(Get-Programs 'node')) {
    $check = '-e "process.exit(parseInt(process.versions.node) >= 14 ? 0 : 1)"'
    if (Test-Program $file $check) {
      $session.helper = @{ file = $file; arguments = "`"$(Save-Helper 'edit.mjs')`"" }
      return
    }
  }
  $check = '-E -c "import sys; sys.exit(sys.version_info < (3, 6))"'
  foreach ($name in 'python', 'python3', 'py') {
    $prefix = if ($name -ceq 'py') { '-3 ' } else { '' }
    foreach ($file in @(Get-Programs $name)) {
      if (Test-Program $file ($prefix + $check)) {
        $session.helper = @{ file = $file; arguments = "$prefix-E -B `"$(Save-Helper 'edit.py')`"" }
        return
      }
    }
  }
}

function Test-Program([string] $file, [string] $arguments) {
  try { return (Start-Program $file $arguments).code -eq 0 } catch { return $false }
}

# Programs of this name on the path. Those in WindowsApps may open the Microsoft Store instead.
function Get-Programs([string] $name) {
  foreach ($command in @(Get-Command -Name $name -CommandType Application -All -ErrorAction SilentlyContinue)) {
    $file = [string] $command.Source
    if (-not $file.EndsWith('.exe', [StringComparison]::OrdinalIgnoreCase)) { continue }
    if ($file.IndexOf('\Microsoft\WindowsApps\', [StringComparison]::OrdinalIgnoreCase) -ge 0) { continue }
    $file
  }
}

# Writes the sources with the same ending as $main into the temporary folder; gives the path of $main there.
function Save-Helper([string] $main) {
  $folder = [IO.Path]::Combine($session.work, 'helper')
  $null = [IO.Directory]::CreateDirectory($folder)
  $ending = [IO.Path]::GetExtension($main)
  foreach ($name in @($helperSources.Keys)) {
    if ([IO.Path]::GetExtension($name) -cne $ending) { continue }
    $text = $helperSources[$name].Replace("`r`n", "`n") + "`n"
    [IO.File]::WriteAllBytes([IO.Path]::Combine($folder, $name), $utf8.GetBytes($text))
  }
  return [IO.Path]::Combine($folder, $main)
}

# Runs the helper (apply, remove, check) on contents by name: current, wanted, previous, before. Gives after and before
# ($null: no file) and lines, what it printed. A file that cannot be edited safely fails the tool, with the helper's sentence.
function Invoke-Helper([string] $command, $plan, $contents) {
  $folder = [IO.Path]::Combine($session.work, 'edit-' + [guid]::NewGuid().ToString('n'))
  $null = [IO.Directory]::CreateDirectory($folder)
  foreach ($name in @($contents.Keys)) {
    if ($null -ne $contents[$name]) { Save-Content ([IO.Path]::Combine($folder, $name)) $contents[$name] }
  }
  $words = "$command $($plan.format) `"$folder`" --identity $($plan.identity) --at $($plan.at)"
  $result = Start-Program $session.helper.file "$($session.helper.arguments) $words"
  if ($result.code -ne 0) { Stop-Tool (Get-HelperReason $result) }
  return @{
    after = Read-Content ([IO.Path]::Combine($folder, 'after'))
    before = Read-Content ([IO.Path]::Combine($folder, 'before'))
    lines = @($result.output -csplit '\r?\n' | Where-Object { $_ })
  }
}

# Sentences of the helper contain no value of the file. Its other errors might.
function Get-HelperReason($result) {
  $first = ConvertTo-Printable (@($result.errors -csplit '\r?\n')[0])
  if ($result.code -eq 2 -and $first) { return $first }
  return "the editing helper stopped with exit code $($result.code)"
}

# For the folders of this script only.
function Save-Content([string] $path, $content) {
  [IO.File]::WriteAllBytes($path, $latin1.GetBytes([string] $content))
}
