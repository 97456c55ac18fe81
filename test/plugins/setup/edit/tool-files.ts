import type { EditFormat } from './formats.ts';

/** Configurations as tools and their users write them: by format for every file, then by the end of a file's path. */
export const filesByFormat: Readonly<Record<EditFormat, readonly string[]>> = {
  json: ['{}', '{\r\n\t"theme": "dark",\r\n\t"nested": { "a": [1, 2] }\r\n}\r\n', '\ufeff{"a":{"b":null},"env":{}}'],
  toml: ['# nothing yet\n', 'a = 1', '\ufeff[table]\r\nkey = "value" # comment\r\n\r\n[[list]]\r\n'],
  yaml: ['# nothing yet\n', '---\n# only comments\n...\n', '\ufeff# comment\r\n\r\n'],
};

export const filesByPath: Readonly<Record<string, readonly string[]>> = {
  '.claude/settings.json': [
    '{\n  "$schema": "https://json.schemastore.org/claude-code-settings.json",\n  "theme": "dark",\n  "model": "opus"\n}\n',
    `{
  "permissions": { "allow": ["Bash(npm run test:*)"], "deny": [] },
  "env": {
    "ANTHROPIC_API_KEY": "sk-ant-0",
    "ANTHROPIC_MODEL": "claude-opus-5",
    "DISABLE_TELEMETRY": "1"
  },
  "hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "prettier --write \\"$FILE\\""}]}]}
}`,
    '{"env":{"HTTP_PROXY":"http://localhost:3128"},"statusLine":{"type":"command","command":"~/x.sh"}}\n',
  ],
  '.config.toml': [
    'model = "gpt-5.1-codex"\nmodel_provider = "openai"\n',
    `# Codex
model = "gpt-5.1-codex" # the good one
approval_policy = "on-request"
notify = ["notify-send", "Codex"]

[model_providers.daypass]
name = "old"
base_url = 'http://localhost:8080/v1'

[projects."/home/u/my code"]
trust_level = "trusted"

[tui]
notifications = true
`,
    `#:schema https://example.test/codex.json\r\n[mcp_servers.docs]\r\ncommand = "npx"\r\nargs = [\r\n  "-y", # yes\r\n  "docs-mcp",\r\n]\r\nenv = { "TOKEN" = "x", nested.key = 1 }\r\n\r\n# Prompts\r\n[prompts]\r\ntext = """\r\n[model_providers.daypass]\r\nmodel = "no"\r\n"""`,
  ],
  '.kimi-code/config.toml': [
    'default_model = "kimi-code/k3"\ntelemetry = false\n\n[providers."managed:kimi-code"]\ntype = "kimi"\napi_key = ""\n',
    `default_model = "kimi-code/k3" # mine
[models."kimi-code/k3"]
provider = "managed:kimi-code"
model = "k3"
max_context_size = 1_048_576
capabilities = [ "thinking", "image_in" ]

[[hooks]]
event = "PreToolUse"
command = "node ~/check.mjs"

[providers.daypass]
type = "anthropic"
base_url = "https://old.example"
[models."daypass/dp/demo"]
provider = "daypass"
model = "dp/demo"
max_context_size = 1
`,
  ],
  '.vibe/config.toml': [
    'active_model = "mistral-medium-3.5"\nenable_telemetry = false\nmcp_servers = []\n',
    `# Vibe
active_model = "devstral"

[[providers]]
name = "mistral"
api_base = "https://api.mistral.ai/v1"
api_key_env_var = "MISTRAL_API_KEY"
[providers.extra_headers]
X-Team = "a"

[[providers]] # of this gateway, by hand
name = "daypass"
api_base = "http://localhost:8080/v1"

[tools.bash]
permission = "ask"

[[models]]
name = "dp/demo"
provider = "other"
alias = "mine"

[[models]]
name = "dp/demo"
provider = "daypass"
alias = "daypass/dp/demo"
temperature = 0.2

[[mcp_servers]]
name = "daypass"
transport = "stdio"
`,
    '\ufeff[[models]]\r\n  name = "x"\r\n  provider = "y"\r\n\r\n# end',
  ],
  'openclaw.json': [
    '{\n  "agents": {\n    "defaults": {\n      "model": {\n        "primary": "anthropic/claude-opus-5"\n      }\n    }\n  }\n}\n',
    '{\n  // my assistant\n  "gateway": { "mode": "local", "auth": { "token": "t" }, },\n  "models": { "mode": "merge", "providers": { "ollama": { "baseUrl": "http://127.0.0.1:11434", "models": [] } } },\n}\n',
    '{"models":{"providers":{"daypass":{"baseUrl":"x","api":"anthropic-messages","models":[{"id":"old"}]}}}}',
  ],
  'opencode.json': [
    '{\n  "$schema": "https://opencode.ai/config.json"\n}\n',
    '{\n  "$schema": "https://opencode.ai/config.json",\n  // my models\n  "model": "anthropic/claude",\n  "provider": {\n    "ollama": { "models": { "qwen3": {}, }, }, // local\n  },\n}\n',
    '{"theme":"system","provider":{"daypass":{"name":"old","models":{"x":{"name":"x"}}}},"mcp":{/* none */}}',
  ],
  'kilo.json': [
    '{\n    "$schema": "https://app.kilo.ai/config.json",\n    "permission": {}\n}\n',
    '{\n\t// tabs\n\t"small_model": "x/y",\n\t"permission": { "edit": "ask" }\n}\n',
    '{ "provider": {}, "model": "kilo/auto" }\r\n',
  ],
  'providers.json': [
    '{\n  "version": 1,\n  "modes": {},\n  "providers": {}\n}\n',
    '{\n  "version": 1,\n  "lastUsedProvider": "anthropic",\n  "modes": { "plan": { "provider": "anthropic" } },\n  "providers": { "anthropic": { "settings": { "apiKey": "sk-ant" } } }\n}',
    '{"providers":{"openai-compatible":{"settings":{"provider":"openai-compatible","baseUrl":"http://localhost:11434/v1"}}}}',
  ],
  '.gemini/settings.json': [
    '{\n  "security": { "auth": { "selectedType": "oauth-personal" } }\n}\n',
    '{\n  // "security": {},\n  "ui": { "theme": "GitHub" },\n}\n',
    '{"security":{},"mcpServers":{}}',
  ],
  '.qwen/settings.json': [
    '{\n  "$version": 3,\n  "model": { "name": "qwen3-coder-plus" }\n}\n',
    '{\n  "modelProviders": {\n    "openai": [\n      { "id": "qwen3", "baseUrl": "http://localhost/v1" }, // local\n    ],\n    "anthropic": []\n  }\n}\n',
    '{"security":{"auth":{"selectedType":"qwen-oauth"}},"modelProviders":{"openai":[{"id":"dp/demo","baseUrl":"https://ai.example/v1","name":"mine"}]}}',
  ],
  '.factory/settings.json': [
    '{\n  "model": "claude-opus",\n  "customModels": []\n}\n',
    '{\n  // Droid\n  "customModels": [\n    {\n      "model": "llama",\n      "baseUrl": "http://localhost:11434/v1",\n      "provider": "generic-chat-completion-api"\n    }\n  ]\n}\n',
    '{"customModels":[{"model":"dp/demo","baseUrl":"https://ai.example/v1","apiKey":"old","displayName":"old"},{"model":"x"}]}',
  ],
  'models.json': [
    '{\n  "providers": {}\n}\n',
    '{\n  // pi accepts comments\n  "providers": {\n    "ollama": { "baseUrl": "http://localhost:11434/v1", "models": [{ "id": "qwen3" }] }\n  }\n}\n',
    '{"providers":{"daypass":{"baseUrl":"x","models":[]}}}',
  ],
  '.aider.conf.yml': [
    'model: sonnet\ndark-mode: true\n',
    `##########################################################
# Sample .aider.conf.yml
# Place in your home dir, or at the root of your git repo.
##########################################################

## Specify the OpenAI API key
#openai-api-key: xxx
openai-api-key: sk-xxx # mine

## Set environment variables
set-env:
  - AIDER_X=1
alias:
- "fast:gpt-4o-mini"
- smart:o3
read: [CONVENTIONS.md, "other file.md"]

## Show model warnings
show-model-warnings: true
`,
    'weak-model: "openai/gpt-4o-mini"\r\ncommit-prompt: |\r\n  Write a message.\r\n\r\n  model: no\r\nmodel:\r\nedit-format: >-\r\n  diff',
  ],
  'aichat/config.yaml': [
    '# see https://github.com/sigoden/aichat/blob/main/config.example.yaml\n\nmodel: openai:gpt-4o\nclients:\n- type: openai\n  api_key: sk-0\n',
    `model: ollama:llama3 # local
temperature: null
save: true
keybindings: emacs
clients:
  - type: openai-compatible
    name: ollama
    api_base: http://localhost:11434/v1
    models:
      - name: llama3
        max_input_tokens: 8192
        supports_function_calling: true
      - name: nomic-embed-text
        type: embedding
  - type: claude
    api_key: sk-ant-0

# Rendering
highlight: true
`,
    'clients: []\r\nstream: true\r\n',
  ],
  'goose/config.yaml': [
    'GOOSE_PROVIDER: anthropic\nGOOSE_MODEL: claude-opus\n',
    `extensions:
  developer:
    bundled: true
    display_name: Developer
    enabled: true
    name: developer
    timeout: 300
    type: builtin
  memory:
    args: ['-y', "x: y"]
    enabled: false
GOOSE_MODEL: gpt-4o
GOOSE_PROVIDER: openai
GOOSE_TELEMETRY_ENABLED: false
OPENAI_HOST: https://api.openai.com
`,
    '# Goose\r\n"GOOSE_MODE": \'auto\'  # careful\r\nextensions: {}\r\ninstructions: "several\r\n  lines: # no comment\r\n\r\n  GOOSE_MODEL: no"\r\nGOOSE_MODEL:',
  ],
  'extra-openai-models.yaml': [
    '- model_id: orca\n  model_name: orca-mini\n  api_base: "http://localhost:8080"\n',
    `# Local models
- model_id: llama
  model_name: llama3
  headers: {X-Title: "a, b"}

# Gateway
- model_id: dp/demo
  api_base: https://ai.example/v1
  api_key_name: old   # to be changed
  supports_tools: false
# end
`,
    '-   model_id: "x"\r\n    model_name: |\r\n        y\r\n-\r\n    model_id: z',
  ],
  '.continue/config.yaml': [
    'name: Local Config\nversion: 1.0.0\nschema: v1\nmodels: []\n',
    `name: My Config
version: 0.0.1
schema: v1

# Models, the first is the default
models:
  - name: Claude
    provider: anthropic
    model: claude-sonnet
    apiKey: \${{ secrets.ANTHROPIC_API_KEY }}
    roles: [chat, edit]
    # completion of lines
  - uses: ollama/qwen2.5-coder-7b
    override:
      roles:
        - autocomplete

rules:
  - "Be brief: always"
  - |
    Several lines.

    models: no
context:
- provider: code
`,
    'name: "x"\r\nmodels:\r\n- apiBase: https://ai.example/v1\r\n  model: dp/demo # ours, changed\r\n  name: Mine\r\n  provider: openai\r\n\r\n# tail\r\nmcpServers:\r\n- name: m\r\n  command: npx',
  ],
  'zed/settings.json': [
    '// Zed settings\n//\n// For information on how to configure Zed, see the documentation\n{\n  "theme": "One Dark",\n  "ui_font_size": 16\n}\n',
    '{\n  "agent": {\n    "default_model": { "provider": "zed.dev", "model": "claude" }, // default\n    "version": "2",\n  },\n  "language_models": { "ollama": {}, },\n}\n',
    '{"language_models":{"openai_compatible":{"other":{"api_url":"x","available_models":[]}}}}',
  ],
};
