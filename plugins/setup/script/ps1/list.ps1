# -List: the tools, and which of them are here.

function Show-Tools {
  $saved = Read-Tools
  Write-Line "Tools that can be set up for $(Get-ServiceName):"
  Write-Line ''
  foreach ($tool in $data.tools) {
    Write-Line ('  {0,-16} {1,-24} {2}' -f $tool.id, $tool.name, (Get-ToolState $tool $saved))
  }
  return 0
}

function Get-ToolState($tool, $saved) {
  $states = @()
  if (Test-Found $tool) { $states += 'found' }
  if ($saved.Contains($tool.id)) {
    $model = if ($saved[$tool.id]) { " with $($saved[$tool.id])" } else { '' }
    $states += "set up$model"
  }
  if (-not (Test-HasWindowsPaths $tool)) { $states += 'not by this script on Windows' }
  if ($tool.isOnRequest) { $states += "only with -Tools $($tool.id)" }
  return $states -join ', '
}
