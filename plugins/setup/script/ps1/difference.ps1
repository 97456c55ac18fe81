# What a dry run shows of a file: the lines that differ, with three lines around them, and no secrets.

function Show-Difference([string] $path, $before, $after) {
  Write-Line "--- $path"
  Write-Line "+++ $path"
  $old = @(Split-Lines $before)
  $new = @(Split-Lines $after)
  $changes = @(Hide-Changes (Get-Changes $old $new) $old $new)
  foreach ($line in @(Select-Near $changes)) {
    $shown = ConvertTo-Printable $line
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

# The same changes without secrets. What a line is depends on those above it, which a difference may not show.
function Hide-Changes($changes, $old, $new) {
  $oldShown = @(Hide-Lines $old)
  $newShown = @(Hide-Lines $new)
  $oldIndex = 0
  $newIndex = 0
  foreach ($change in $changes) {
    $sign = $change.Substring(0, 1)
    if ($sign -ceq '-') { $sign + $oldShown[$oldIndex] } else { $sign + $newShown[$newIndex] }
    if ($sign -cne '+') { $oldIndex++ }
    if ($sign -cne '-') { $newIndex++ }
  }
}

# The lines of a file without secrets, as setup.sh hides them: too much is hidden rather than too little. The value of a secret may
# begin on the line of its name and go on below.
function Hide-Lines($lines) {
  $below = ''
  $depth = 0
  foreach ($line in $lines) {
    $indent = $line.Length - $line.TrimStart().Length
    if ($below -ceq 'deeper' -and $line -cmatch '\A\s*(#|\z)') {
      Hide-Keys $line
      continue
    }
    if (Test-Below $below $depth $line $indent) {
      if ($below -ceq 'next' -or ($below -ceq 'key' -and $line -cmatch '-----END ') -or
        ($below -ceq 'quotes' -and $line -cmatch '"""|''{3}')) { $below = '' }
      if ($line.Trim()) { $line.Substring(0, $indent) + '***' } else { $line }
      continue
    }
    $hidden = Hide-Secrets $line
    $below = $hidden.below
    $depth = $indent
    $hidden.text
  }
}

# True when the line belongs to a secret of the kind $below that begins above it, at the indentation $depth.
function Test-Below([string] $below, [int] $depth, [string] $line, [int] $indent) {
  switch -CaseSensitive ($below) {
    { $_ -in 'key', 'quotes', 'next' } { return $true }
    'table' { return $line -cnotmatch '\A\s*\[' }
    'bracket' { return $line -cnotmatch '\A\s*[\]})]' -or $indent -gt $depth }
    'deeper' { return $indent -gt $depth -or ($indent -ge $depth -and $line -cmatch '\A\s*- ') }
    'base64' { return $line -cmatch '\A[\s"'']*[A-Za-z0-9+/=_-]+[\s"'',\\]*\z' }
  }
  return $false
}

# Hides what looks like a key, and all that follows a name such as apiKey or password on its line: a line may hold several
# secrets. Only a string of JSON that other members or brackets follow is hidden alone: settings may be one line.
# Gives text, and below: how the value goes on in the lines below, or ''.
function Hide-Secrets([string] $text) {
  if ($text -cmatch '-----BEGIN ') {
    $below = if ($text -cmatch '-----END ') { '' } else { 'key' }
    return @{ text = [regex]::Replace($text, '-----BEGIN .*', '-----BEGIN ***'); below = $below }
  }
  $line = $text
  $shown = ''
  $name = '(key|token|secret|password|passwd|passphrase|pwd|credential|authorization|cookie)[a-z0-9_.-]*["'']?[ \t]*[\],:= \t]'
  # In Turkish, I is not the capital letter of i.
  $options = [Text.RegularExpressions.RegexOptions] 'IgnoreCase, CultureInvariant'
  while ($true) {
    $found = [regex]::Match($text, $name, $options)
    if (-not $found.Success) { break }
    $end = $found.Index + $found.Length
    $rest = $text.Substring($end).TrimStart("] `t:=,".ToCharArray()).TrimEnd()
    # A limit, such as max_tokens.
    if ($found.Value -cmatch 'okens["'']?[ \t]*[:=]\z' -and $rest -cmatch '\A[0-9_]+([\],} \t]|\z)') {
      $shown += $text.Substring(0, $end)
      $text = $text.Substring($end)
      continue
    }
    $below = Get-Below $found.Value $rest $line
    if ($below -and $below -cne 'quotes') { return @{ text = Hide-Keys ($shown + $text); below = $below } }
    $shown += $text.Substring(0, $end) + ' ***'
    $string = [regex]::Match($rest, '\A"(?:[^"\\]|\\.)*"(?=[\]} \t]*(?:,[ \t]*["{/]|,?\z))')
    if ($string.Success) {
      $text = $rest.Substring($string.Length)
      continue
    }
    if (-not $below -and $rest -cmatch '[\[{(]\z') { $below = 'bracket' }
    $comma = if ($rest -cmatch ',\z') { ',' } else { '' }
    return @{ text = (Hide-Keys $shown) + $comma; below = $below }
  }
  $text = Hide-Keys ($shown + $text)
  $below = if ($text -cne $line -and (Test-Below 'base64' 0 $line 0)) { 'base64' } else { '' }
  return @{ text = $text; below = $below }
}

# How the value of a secret goes on below the line, of which $rest is behind its name; or ''.
function Get-Below([string] $name, [string] $rest, [string] $line) {
  if ($rest -ceq '\' -or (-not $rest -and $name -cmatch ',\z')) { return 'next' }
  if (-not $rest -and $name -cmatch '\]\z') {
    if ($line -cmatch '\A\s*\[') { return 'table' }
    return ''
  }
  if ($rest -cmatch '\A([|>][0-9+-]*)?\z') { return 'deeper' }
  if ($rest -cmatch '\A[\[{(]\z') { return 'bracket' }
  if ($rest -cmatch '\A("""|''{3})' -and $rest -cnotmatch '\A...*("""|''{3})\z') { return 'quotes' }
  return ''
}

# Hides what is a key by its looks: of this gateway, with a known start, after Bearer or Basic, in a URL before its @, a UUID, and
# long runs of letters and digits. Not hidden are the address of this gateway and its models.
function Hide-Keys([string] $text) {
  $prefix = [regex]::Escape($data.keyPrefix)
  $text = [regex]::Replace($text, $prefix + '[-_][A-Za-z0-9_-]+', $data.keyPrefix + '-***')
  $text = [regex]::Replace($text, 'sk-[A-Za-z0-9_-]+', 'sk-***')
  $text = [regex]::Replace($text, '://[^/@\s"'']*:[^@\s"'']*@', '://***@')
  $text = [regex]::Replace($text, '(?<=([Bb]earer|BEARER|[Bb]asic|BASIC)[ \t]+)[^\s"'']*([0-9=]|[a-z][A-Z])[^\s"'']*', '***')
  $run = 'A-Za-z0-9_+/.~%-'
  $known = '[spr]k[-_]|xox[abeoprs]-|xapp-|glpat-|github_pat_|gh[opsur]_|hf_|ya29\.|SG\.|A[KS]IA|AIza|eyJ'
  $uuid = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'
  $random = "(?!$prefix/)[$run]*?(?<![A-Za-z0-9])" +
  '([A-Za-z0-9]{40}|(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{16})'
  $parts = [regex]::Split($text, '(' + [regex]::Escape($data.baseUrl) + ')')
  for ($index = 0; $index -lt $parts.Count; $index += 2) {
    $parts[$index] = [regex]::Replace($parts[$index], "(?<![$run])(($known)[$run]{8,}|$uuid(?![$run])|$random[$run]*)=*", '***')
  }
  return $parts -join ''
}
