# Blocks: lines between two markers, in files whose comments begin with #.

# Cuts a content at the block into head and tail. Without a block, head is all of it, and isFound is false.
function Split-Block([string] $content) {
  $begin = [regex]::Matches($content, '(?m)^' + [regex]::Escape((Get-Marker '>>>')) + '\r?$')
  $end = [regex]::Matches($content, '(?m)^' + [regex]::Escape((Get-Marker '<<<')) + '\r?$')
  if ($begin.Count -eq 0 -and $end.Count -eq 0) { return @{ head = $content; tail = ''; isFound = $false } }
  if ($begin.Count -ne 1 -or $end.Count -ne 1 -or $begin[0].Index -gt $end[0].Index) {
    Stop-Tool "its markers `"$(Get-Marker '>>>')`" and `"$(Get-Marker '<<<')`" are not one pair"
  }
  $rest = $end[0].Index + $end[0].Length
  if ($rest -lt $content.Length) { $rest++ }
  return @{ head = $content.Substring(0, $begin[0].Index); tail = $content.Substring($rest); isFound = $true }
}

function Get-Marker([string] $arrows) { return "# $arrows $($session.slug) $arrows" }

function Test-OpenEnd($content) { return $content -and -not ([string] $content).EndsWith("`n", [StringComparison]::Ordinal) }

# The content without the block. The line end that was added to a last line without one is removed again.
function Remove-Block($block, $before) {
  $clean = $block.head + $block.tail
  if ($block.isFound -and -not $block.tail -and (Test-OpenEnd $before) -and $clean) {
    return $clean.Substring(0, $clean.Length - 1)
  }
  return $clean
}

# The content with the new block where the old one was, or at the end.
function Add-Block($block, [string] $wanted) {
  $separator = if (-not $block.isFound -and (Test-OpenEnd $block.head)) { "`n" } else { '' }
  return $block.head + $separator + (Get-Marker '>>>') + "`n" + $wanted + (Get-Marker '<<<') + "`n" + $block.tail
}
