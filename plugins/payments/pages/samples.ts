import type { Host } from '#core/gateway/host/host.ts';
import { type CodePiece, codePieces } from '#core/web/pages/code-pieces.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { setupSample } from '#core/web/pages/setup-command.ts';

/** What to paste for a first request with one tool. */
export interface ToolSample {
  readonly id: string;
  readonly name: string;
  readonly pieces: readonly CodePiece[];
  /** What Copy takes; without it, all of the pieces. */
  readonly value?: string;
}

/** The command that sets up all tools; it asks for the key, which is therefore not in it. */
export function setupToolSample({ host, t, userAgent }: PageRequest): ToolSample {
  const { text, value } = setupSample(userAgent, host.service.baseUrl);
  const pieces = codePieces(`# ${t('payments.done.one_command_does')}\n${text}`);
  return { id: 'setup', name: t('payments.done.one_command'), pieces, value };
}

/** @param key the key where it is shown on the same page, else a placeholder */
export function firstSamples({ service, catalog }: Pick<Host, 'service' | 'catalog'>, key: string): ToolSample[] {
  const { baseUrl, prefix } = service;
  const model = catalog.models[0]?.publicName ?? `${prefix}/MODEL`;
  const samples = [
    {
      id: 'curl',
      name: 'curl',
      text: `curl ${baseUrl}/v1/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}",
    "messages": [{"role": "user", "content": "Hello"}]}'`,
    },
    {
      id: 'claude-code',
      name: 'Claude Code',
      text: `export ANTHROPIC_BASE_URL="${baseUrl}"
export ANTHROPIC_AUTH_TOKEN="${key}"
claude --model "${model}"`,
    },
    {
      id: 'openai',
      name: 'OpenAI',
      text: `export OPENAI_BASE_URL="${baseUrl}/v1"
export OPENAI_API_KEY="${key}"
python -c 'from openai import OpenAI
response = OpenAI().responses.create(
    model="${model}", input="Hello")
print(response.output_text)'`,
    },
    {
      id: 'gemini',
      name: 'Gemini',
      text: `export GOOGLE_GEMINI_BASE_URL="${baseUrl}"
export GEMINI_API_KEY="${key}"
gemini --model "${model}"`,
    },
  ];
  return samples.map(({ id, name, text }) => ({ id, name, pieces: codePieces(text) }));
}
