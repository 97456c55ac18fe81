# Moves tools from former names of the service. Each of them is a service with another folder of records, other markers and other
# names in settings. What was set up under one is taken out by -Undo, and before it is set up under the present name. A run that ends in
# between leaves the record `moving`, so that the next one knows the tools and their models.

# The tools that are set up under former names, with their models, those of the latest name first; as Read-Tools.
function Read-FormerTools {
  $former = [ordered] @{}
  foreach ($slug in @($data.formerSlugs)) {
    Enter-Service $slug
    $saved = Read-Tools 'tools'
    $moving = Read-Tools 'moving'
    foreach ($id in @(Get-SetUpTools) + @($moving.Keys)) {
      if (-not $former[$id]) { $former[$id] = [string] $saved[$id] }
      if (-not $former[$id]) { $former[$id] = [string] $moving[$id] }
    }
  }
  Enter-Service $data.slug
  return $former
}

# The tools that are set up, and those that wait to be moved from a former name; as Read-Tools.
function Read-SavedTools($former) {
  $saved = Read-Tools 'tools'
  $waiting = Read-Tools 'moving'
  foreach ($id in @($former.Keys)) {
    if (-not $waiting[$id]) { $waiting[$id] = [string] $former[$id] }
  }
  foreach ($id in @($waiting.Keys)) {
    if (-not $saved.Contains($id)) { $saved[$id] = [string] $waiting[$id] }
  }
  return $saved
}

# Takes these tools out of what was set up under former names. False when something could not be taken out.
function Move-FormerTools($ids, $saved) {
  Write-Line ''
  Write-Line "Settings under a former name of $(Get-ServiceName) are taken out first:"
  if (-not $session.isDryRun) { Save-Moving $ids $saved }
  $isDone = $true
  foreach ($slug in @($data.formerSlugs)) {
    Enter-Service $slug
    if ([IO.Directory]::Exists($session.state)) { Open-State }
    if (-not (Undo-Service $ids)) { $isDone = $false }
  }
  Enter-Service $data.slug
  return $isDone
}

# Puts the tools that are about to lose their former settings on record, and the folders that were created for them: files of
# other tools may keep those until the former records are gone.
function Save-Moving($ids, $saved) {
  $moving = Read-Tools 'moving'
  foreach ($id in $ids) { $moving[$id] = [string] $saved[$id] }
  Save-Tools 'moving' $moving
  $folders = @(foreach ($slug in @($data.formerSlugs)) {
      Enter-Service $slug
      Read-Lines 'folders'
    })
  Enter-Service $data.slug
  Save-Lines 'folders' @($folders + @(Read-Lines 'folders') | Select-Object -Unique)
}
