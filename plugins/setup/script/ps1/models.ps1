# The models that a tool is set up with, and the placeholders of its texts.

function Find-Model([string] $name) {
  foreach ($model in $data.models) {
    if ($model.name -ceq $name) { return $model }
  }
}

# What is to be done for a tool: its actions, and the values of the placeholders. The model is that of -Model, of the last
# run ($saved), or the default of the format.
function Get-Wishes($tool, [string] $named, [string] $saved) {
  $default = @($data.defaults | Where-Object { $_.format -ceq $tool.format })[0]
  $name = [string] $default.model
  if ($named) { $name = $named } elseif ($saved -and (Find-Model $saved)) { $name = $saved }
  $smallName = if ($default.small) { [string] $default.small } else { $name }
  $model = Find-Model $name
  $small = Find-Model $smallName
  $traits = [string] $model.traits
  if ($name -ceq $smallName) { $traits += '-same' }
  $variant = @($tool.variants | Where-Object { $_.traits -ccontains $traits })[0]
  if ($null -eq $variant) { Stop-Tool "the model $name does not suit this tool" }
  return @{
    model = $name
    actions = $variant.actions
    fill = @{
      KEY = $session.key
      MODEL = $name
      SMALL = $smallName
      CONTEXT = [string] $model.context
      OUTPUT = [string] $model.output
      SMALL_CONTEXT = [string] $small.context
      SMALL_OUTPUT = [string] $small.output
    }
  }
}

# In one pass, because a value could look like a placeholder. Split gives texts and names of placeholders in turn.
function Expand-Text([string] $text, $fill) {
  $parts = [regex]::Split($text, '@(KEY|MODEL|SMALL|CONTEXT|OUTPUT|SMALL_CONTEXT|SMALL_OUTPUT)@')
  for ($index = 1; $index -lt $parts.Count; $index += 2) { $parts[$index] = $fill[$parts[$index]] }
  return $parts -join ''
}
