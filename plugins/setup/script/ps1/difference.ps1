# What a dry run shows of a file: the lines that differ, with three lines around them, and no secrets.

function Show-Difference([string] $path, $before, $after) {
  Write-Line "--- $path"
  Write-Line "+++ $path"
  $old = @(Split-Lines $before)
  $new = @(Split-Lines $after)
  foreach ($line in @(Select-Near (Get-Changes $old $new))) {
    $shown = ConvertTo-Printable (Hide-Secrets $line)
    $colour = if ($line -cmatch '\A\+') { 'Green' } elseif ($line -cmatch '\A-') { 'Red' } else { '' }
    Write-Line $shown $colour
  }
}

function Split-Lines($content) {
  if (-not $content) { return }
  $lines = (ConvertFrom-Content $content) -csplit '\r?\n'
  $last = $lines.Count - 1
  if ($lines[$last].Length -eq 0) { $last-- }
  for ($index = 0; $index -le $last; $index++) { $lines[$index] }
}

# All lines, each with a space (in both), - (only before) or + (only after) in front. Lines that stay are found by the longest
# common subsequence, between the first and the last line that differ.
function Get-Changes($old, $new) {
  $first = 0
  while ($first -lt $old.Count -and $first -lt $new.Count -and (Test-Same $old[$first] $new[$first])) { $first++ }
  $oldEnd = $old.Count
  $newEnd = $new.Count
  while ($oldEnd -gt $first -and $newEnd -gt $first -and (Test-Same $old[$oldEnd - 1] $new[$newEnd - 1])) {
    $oldEnd--
    $newEnd--
  }
  $changes = New-Object Collections.Generic.List[string]
  for ($index = 0; $index -lt $first; $index++) { $changes.Add(' ' + $old[$index]) }
  Add-Middle $changes $old $first $oldEnd $new $newEnd
  for ($index = $oldEnd; $index -lt $old.Count; $index++) { $changes.Add(' ' + $old[$index]) }
  return , $changes.ToArray()
}

# Lines $first to $oldEnd and $newEnd, both exclusive.
function Add-Middle($changes, $old, [int] $first, [int] $oldEnd, $new, [int] $newEnd) {
  $oldCount = $oldEnd - $first
  $newCount = $newEnd - $first
  $i = 0
  $j = 0
  # A larger table takes too long: then everything in between is shown as replaced.
  if ($oldCount * $newCount -le 250000) {
    $lengths = Measure-Common $old $first $oldCount $new $newCount
    while ($i -lt $oldCount -and $j -lt $newCount) {
      if (Test-Same $old[$first + $i] $new[$first + $j]) {
        $changes.Add(' ' + $old[$first + $i])
        $i++
        $j++
      } elseif ($lengths[$i + 1][$j] -ge $lengths[$i][$j + 1]) {
        $changes.Add('-' + $old[$first + $i])
        $i++
      } else {
        $changes.Add('+' + $new[$first + $j])
        $j++
      }
    }
  }
  for (; $i -lt $oldCount; $i++) { $changes.Add('-' + $old[$first + $i]) }
  for (; $j -lt $newCount; $j++) { $changes.Add('+' + $new[$first + $j]) }
}

# Row i, column j: the length of the longest common subsequence of the lines from i and from j on.
function Measure-Common($old, [int] $first, [int] $oldCount, $new, [int] $newCount) {
  $rows = New-Object object[] ($oldCount + 1)
  $rows[$oldCount] = New-Object int[] ($newCount + 1)
  for ($i = $oldCount - 1; $i -ge 0; $i--) {
    $row = New-Object int[] ($newCount + 1)
    $below = $rows[$i + 1]
    for ($j = $newCount - 1; $j -ge 0; $j--) {
      if ([string]::Equals($old[$first + $i], $new[$first + $j], [StringComparison]::Ordinal)) { $row[$j] = $below[$j + 1] + 1 }
      else { $row[$j] = [Math]::Max($below[$j], $row[$j + 1]) }
    }
    $rows[$i] = $row
  }
  return , $rows
}

# Changed lines and three around them; @@ stands for lines that are left out.
function Select-Near($changes) {
  $all = @($changes)
  $shown = -1
  for ($index = 0; $index -lt $all.Count; $index++) {
    $isNear = $false
    $end = [Math]::Min($all.Count - 1, $index + 3)
    for ($other = [Math]::Max(0, $index - 3); $other -le $end; $other++) {
      if ($all[$other] -cnotmatch '\A ') { $isNear = $true }
    }
    if (-not $isNear) { continue }
    if ($index -gt $shown + 1) { '@@' }
    $all[$index]
    $shown = $index
  }
}

# Hides keys of this gateway, what looks like a key of another service, and all that follows a name such as apiKey or password
# on its line. Too much is hidden rather than too little: a line may hold several secrets. Only a string of JSON that other
# members or brackets follow is hidden alone: settings may be one line.
function Hide-Secrets([string] $text) {
  $text = Hide-Keys $text
  $shown = ''
  $name = '(key|token|secret|password|passwd|passphrase|pwd|credential|authorization|cookie)[a-z0-9_.-]*["'']?[ \t]*[\]:= \t]'
  # In Turkish, I is not the capital letter of i.
  $options = [Text.RegularExpressions.RegexOptions] 'IgnoreCase, CultureInvariant'
  while ($true) {
    $found = [regex]::Match($text, $name, $options)
    if (-not $found.Success) { return $shown + $text }
    $end = $found.Index + $found.Length
    $rest = $text.Substring($end).TrimStart(" `t:=".ToCharArray())
    if ($rest -cmatch '\A([\[{|>]\s*)?\z') { return $shown + $text }
    $shown += $text.Substring(0, $end) + ' ***'
    $string = [regex]::Match($rest, '\A"(?:[^"\\]|\\.)*"(?=[\]} \t]*(?:,[ \t]*["{/]|,?\z))')
    if (-not $string.Success) {
      if ($rest -cmatch ',\s*\z') { return $shown + ',' }
      return $shown
    }
    $text = $rest.Substring($string.Length)
  }
}

function Hide-Keys([string] $text) {
  $text = [regex]::Replace($text, [regex]::Escape($data.keyPrefix) + '[-_][A-Za-z0-9_-]+', $data.keyPrefix + '-***')
  return [regex]::Replace($text, 'sk-[A-Za-z0-9_-]+', 'sk-***')
}
