# What each option runs, and how a run ends.

function Get-ServiceName { return ConvertTo-Printable $data.service }

# Gives the exit code: 0 done, 1 something failed, 2 wrong arguments.
function Start-Setup($given) {
  try {
    Assert-System
    $options = Read-Options $given
    $session.isDryRun = $options.isDryRun
    if ($options.mode -ceq 'help') {
      foreach ($line in Get-Usage) { Write-Line $line }
      return 0
    }
    return Start-Mode $options
  } catch {
    $code = $_.Exception.Data['setup_code']
    if ($null -ne $code) {
      Write-Line $_.Exception.Message 'Red'
      return $code
    }
    Write-Line (ConvertTo-Printable "The script stopped: $(Get-Reason $_)") 'Red'
    return 1
  }
}

function Start-Mode($options) {
  $session.time = [DateTime]::UtcNow.ToString('yyyyMMddTHHmmssZ', [Globalization.CultureInfo]::InvariantCulture)
  Enter-Service $data.slug
  try {
    New-WorkFolder
    Enable-Tls
    switch -CaseSensitive ($options.mode) {
      'list' { return Show-Tools }
      'undo' { return Undo-Setup $options }
      'verify' { return Test-Setup $options }
      default { return Install-Setup $options }
    }
  } finally {
    Restore-Tls
    foreach ($slug in @($session.locks.Keys)) {
      Enter-Service $slug
      Close-State
    }
    Clear-Work
  }
}

function Assert-System {
  # The variables exist in PowerShell 7 only.
  if ($IsLinux -or $IsMacOS) {
    Stop-Setup "This script is for Windows. Run: curl -fsSL $($data.baseUrl)/setup.sh | sh"
  }
  if ($PSVersionTable.PSVersion.Major -lt 5) { Stop-Setup 'This script needs Windows PowerShell 5.1 or PowerShell 7.' }
}
