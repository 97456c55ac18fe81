# Lists the tools, and which of them are on this computer or set up (-List).

function Show-Tools {
  $former = Read-FormerTools
  $saved = Read-Tools 'tools'
  $moving = Read-Tools 'moving'
  Write-Line "Tools that can be set up for $(Get-ServiceName):"
  Write-Line ''
  foreach ($tool in $data.tools) {
    Write-Line ('  {0,-16} {1,-24} {2}' -f $tool.id, $tool.name, (Get-ToolState $tool $saved $moving $former))
  }
  return 0
}

function Get-ToolState($tool, $saved, $moving, $former) {
  $states = @()
  if (Test-Found $tool) { $states += 'found' }
  if ($moving.Contains($tool.id)) {
    $states += 'interrupted, run the setup again'
  } else {
    if ($saved.Contains($tool.id)) {
      $model = if ($saved[$tool.id]) { " with $($saved[$tool.id])" } else { '' }
      $states += "set up$model"
    }
    if ($former.Contains($tool.id)) { $states += 'set up under a former name' }
  }
  if (-not (Test-HasWindowsPaths $tool)) { $states += 'not by this script on Windows' }
  if ($tool.isOnRequest) { $states += "only with -Tools $($tool.id)" }
  return $states -join ', '
}
